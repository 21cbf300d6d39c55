#include "Generate.h"

#include "Continuation.h"
#include "Prompts.h"
#include "Sampling.h"
#include "TextModel.h"
#include "Tokenizer.h"
#include "checkpoint/Checkpoint.h"

#include "base/Error.h"
#include "base/random/RandomStream.h"
#include "base/text/Counted.h"
#include "metrics/Metrics.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

/// Tokens and the time in which they were computed.
struct Speed {
  int64_t tokens = 0;
  std::chrono::duration<double> time{0};

  std::string describe() const {
    return fmt::format("{}, {:.2f} tokens/s", counted(tokens, "token"),
                       time.count() > 0 ? static_cast<double>(tokens) / time.count() : 0.0);
  }
};

/// Rank 0 alone has texts and the tokenizer; all ranks have the tokens.
class Generation {
public:
  Generation(Executor &executor, const Options &options, const Settings &settings)
      : executor(executor), options(options), settings(settings) {}

  /// Opens the model and the tokenizer and reads the prompts. Collective.
  void prepare() {
    executor.world().runCollectively([&] {
      if (options.initFrom.empty())
        throw UserError("generate needs weights: pass --init-from DIR or FILE.safetensors");
      model.emplace(executor, !options.noKvCache);
      if (executor.isFirst())
        readTexts();
    });
    broadcast(ends);
    std::vector<int64_t> count{static_cast<int64_t>(prompts.size())};
    broadcast(count);
    tokens.resize(static_cast<size_t>(count[0]));
    for (std::vector<int64_t> &prompt : tokens)
      broadcast(prompt);
  }

  void run() {
    for (size_t i = 0; i < tokens.size(); ++i)
      proceed(i);
    if (!executor.isFirst())
      return;
    const std::string &why = executor.program().uncached;
    if (!model->hasCaches() && !options.noKvCache && !why.empty())
      std::fprintf(stderr, "note: every token recomputes the whole text: %s\n", why.c_str());
    std::fprintf(stderr, "prompt: %s; continuation: %s\n", prompt.describe().c_str(),
                 continuation.describe().c_str());
  }

private:
  void readTexts() {
    const int64_t vocab = executor.program().vocab; // arrays have none
    tokenizer = openTokenizer(options, settings.text("data.format", "text") == "text",
                              vocab ? vocab : model->vocabulary());
    if (!tokenizer->writesText() && !options.stops.empty())
      throw UserError("--stop takes a text, and the tokens of this program are numbers: pass "
                      "--stop-token NUMBER, or a --tokenizer");
    if (options.prompts.empty())
      prompts = {options.prompt};
    else
      prompts = readPrompts(options.prompts);
    for (const std::string &text : prompts)
      tokens.push_back(tokenizer->encode(text));
    ends = tokenizer->ends();
    ends.insert(ends.end(), options.stopTokens.begin(), options.stopTokens.end());
  }

  /// Gives all ranks the list of the first one.
  void broadcast(std::vector<int64_t> &list) {
    list.resize(
        static_cast<size_t>(executor.broadcastFromFirst(static_cast<int64_t>(list.size()))));
    executor.world().worldGroup().broadcast(list.data(), static_cast<int64_t>(list.size()),
                                            DType::I64, 0, {"sharing the tokens of prompts", ""});
  }

  /// Continues prompt number `index`.
  void proceed(size_t index) {
    // Random numbers depend on the seed and the number of the prompt, not on other prompts.
    const RandomStream random(static_cast<uint64_t>(settings.integer("seed", 0)), "generate",
                              index ? std::to_string(index) : "");
    std::vector<int64_t> text = tokens[index];
    const size_t begin = text.size();
    Continuation written(options.stops);
    if (tokenizer) {
      tokenizer->begin(text);
      show(prompts[index]);
    }
    bool hasEnded = false;
    while (!hasEnded && static_cast<int64_t>(text.size() - begin) < options.maxTokens) {
      const std::vector<double> logits = measure(text, begin);
      const int64_t token = chooseToken(logits, options.sampling, random.uniform(text.size() + 1));
      hasEnded = std::find(ends.begin(), ends.end(), token) != ends.end();
      if (hasEnded)
        break;
      text.push_back(token);
      if (tokenizer)
        show(written.add(tokenizer->next(token)));
      if (!options.stops.empty())
        hasEnded = executor.broadcastFromFirst(written.isStopped());
    }
    if (!tokenizer)
      return;
    if (!written.isStopped()) {
      show(written.add(tokenizer->finish()));
      show(written.finish());
    }
    text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin));
    finish(index, written.text(), text, hasEnded || written.isStopped());
  }

  /// The logits after the text. The first ones of a text take the time of its prompt.
  std::vector<double> measure(const std::vector<int64_t> &text, size_t begin) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<double> logits = model->next(text);
    Speed &speed = text.size() == begin ? prompt : continuation;
    speed.tokens += text.size() == begin ? static_cast<int64_t>(begin) : 1;
    speed.time += std::chrono::steady_clock::now() - start;
    return logits;
  }

  /// Writes a fragment of plain text at once.
  void show(const std::string &fragment) {
    if (options.json)
      return;
    std::fwrite(fragment.data(), 1, fragment.size(), stdout);
    flushOutput();
  }

  void finish(size_t index, const std::string &text, const std::vector<int64_t> &added,
              bool hasEnded) {
    std::string line;
    if (options.json)
      line = nlohmann::json({{"prompt", prompts[index]},
                             {"text", text},
                             {"tokens", added},
                             {"finish", hasEnded ? "stop" : "length"}})
                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::fprintf(stdout, "%s\n", line.c_str());
    flushOutput();
  }

  Executor &executor;
  const Options &options;
  const Settings &settings;
  std::optional<TextModel> model;
  std::unique_ptr<Tokenizer> tokenizer;     // on rank 0
  std::vector<std::string> prompts;         // on rank 0
  std::vector<std::vector<int64_t>> tokens; // of each prompt
  std::vector<int64_t> ends;
  Speed prompt, continuation;
};

} // namespace

int generate(Executor &executor, const Options &options, const Settings &settings) {
  Generation generation(executor, options, settings);
  generation.prepare();
  loadTrainedWeights(executor, options, settings);
  if (!options.dryRun)
    generation.run();
  return 0;
}

} // namespace titan::rt
