#include "Generate.h"

#include "Continuation.h"
#include "OrderedTexts.h"
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

  template <class Work> void measure(size_t count, Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    tokens += static_cast<int64_t>(count);
    time += std::chrono::steady_clock::now() - start;
  }

  std::string rate() const {
    return fmt::format("{:.2f} tokens/s",
                       time.count() > 0 ? static_cast<double>(tokens) / time.count() : 0.0);
  }
};

/// A text that is being continued, in a slot.
struct RunningText {
  size_t index; ///< of its prompt
  std::vector<int64_t> tokens;
  Continuation continuation;
  RandomStream random;
  bool hasEnded = false; ///< by a stop, not by its length

  /// Tokens after the prompt.
  int64_t count(const std::vector<std::vector<int64_t>> &prompts) const {
    return static_cast<int64_t>(tokens.size() - prompts[index].size());
  }
};

/// One run of the command. Only rank 0 has texts and the tokenizer; all ranks have the tokens.
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
    if (tokens.size() > 1 && BatchModel::isIn(executor))
      batch.emplace(executor, *model);
  }

  void run() {
    std::vector<std::optional<RunningText>> slots(batch ? batch->slots() : 1);
    for (size_t next = 0; next < tokens.size() || std::ranges::any_of(slots, isBusy);) {
      for (size_t slot = 0; slot < slots.size(); ++slot)
        while (!slots[slot] && next < tokens.size())
          start(slots[slot], slot, next++);
      extendTexts(slots);
    }
    if (executor.isFirst())
      report();
  }

private:
  /// Notes on what was computed, and the speed.
  void report() const {
    const std::string &why = executor.program().uncached;
    if (!model->hasCaches() && !options.noKvCache && !why.empty())
      std::fprintf(stderr, "note: every token recomputes the whole text: %s\n", why.c_str());
    if (overlong > 0)
      std::fprintf(
          stderr,
          "note: %s became longer than the %lld tokens of the program (`data.seq`): tokens "
          "after that depend on the last %lld alone, which are recomputed for each\n",
          counted(overlong, "text").c_str(), static_cast<long long>(model->longest()),
          static_cast<long long>(model->longest()));
    // The first token of a continuation is computed with its prompt, so no time of the continuation
    // includes it.
    std::fprintf(stderr, "prompt: %s, %s; continuation: %s, %s after the first\n",
                 counted(promptSpeed.tokens, "token").c_str(), promptSpeed.rate().c_str(),
                 counted(continuationTokens, "token").c_str(), continuationSpeed.rate().c_str());
  }

  /// The number of tokens at the beginning of a prompt that the program drops, because it is
  /// compiled for shorter texts.
  int64_t countDropped(const std::vector<int64_t> &given) const {
    return std::max<int64_t>(0, std::ssize(given) - model->longest());
  }

  void noteLongPrompts() const {
    int64_t count = 0, most = 0;
    for (const std::vector<int64_t> &given : tokens)
      if (countDropped(given) > 0) {
        ++count;
        most = std::max(most, std::ssize(given));
      }
    if (count > 0)
      std::fprintf(stderr,
                   "warning: %s longer than the %lld tokens of the program, up to %lld: only the "
                   "last %lld tokens are read. To read more, compile the program for longer texts: "
                   "titanc build ... --set data.seq=%lld\n",
                   counted(count, "prompt").c_str(), static_cast<long long>(model->longest()),
                   static_cast<long long>(most), static_cast<long long>(model->longest()),
                   static_cast<long long>(most + options.maxTokens));
  }

  /// Refuses stop tokens that are not tokens of the model.
  void checkStopTokens(int64_t vocab) const {
    for (const int64_t token : options.stopTokens)
      if (token < 0 || token >= vocab)
        throw UserError(fmt::format("--stop-token takes a token of the model, from 0 to {}, not {}",
                                    vocab - 1, token));
  }

  /// The tokens of a prompt. Errors name the prompts of a file by their numbers.
  std::vector<int64_t> encode(size_t index) const {
    try {
      return tokenizer->encode(prompts[index]);
    } catch (const UserError &error) {
      if (options.prompts.empty())
        throw;
      throw UserError(
          fmt::format("prompt {} of --prompts {}: {}", index + 1, options.prompts, error.what()));
    }
  }

  void readTexts() {
    const int64_t vocab = executor.program().vocab; // arrays have none
    const int64_t size = vocab ? vocab : model->vocabulary();
    checkStopTokens(size);
    tokenizer = openTokenizer(options, settings.text("data.format", "text") == "text", size);
    if (!tokenizer->writesText() && !options.stops.empty())
      throw UserError("--stop takes a text, but this program has no tokenizer: pass --stop-token "
                      "NUMBER, or a --tokenizer");
    if (options.prompts.empty())
      prompts = {options.prompt};
    else
      prompts = readPrompts(options.prompts);
    for (size_t i = 0; i < prompts.size(); ++i)
      tokens.push_back(encode(i));
    noteLongPrompts();
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

  static bool isBusy(const std::optional<RunningText> &slot) { return slot.has_value(); }

  /// Computes a prompt and its first token. The text gets the slot, unless it has already ended.
  void start(std::optional<RunningText> &text, size_t slot, size_t index) {
    // Random numbers depend on the seed and the number of the prompt, not on other prompts.
    text = RunningText{index, tokens[index], Continuation(options.stops),
                       RandomStream(static_cast<uint64_t>(settings.integer("seed", 0)), "generate",
                                    index ? std::to_string(index) : "")};
    if (tokenizer) {
      tokenizer->begin(static_cast<int64_t>(index), text->tokens);
      show(index, prompts[index]);
    }
    if (options.maxTokens == 0)
      return finish(text);
    std::vector<double> logits;
    const std::vector<int64_t> &given = tokens[index];
    promptSpeed.measure(given.size() - static_cast<size_t>(countDropped(given)), [&] {
      logits = model->next(text->tokens);
      if (batch)
        batch->admit(static_cast<int64_t>(slot));
    });
    addNextToken(text, logits);
  }

  /// Adds a token to each running text.
  void extendTexts(std::vector<std::optional<RunningText>> &slots) {
    std::vector<std::span<const int64_t>> texts(slots.size());
    for (size_t slot = 0; slot < slots.size(); ++slot)
      if (slots[slot])
        texts[slot] = slots[slot]->tokens;
    const auto busy = static_cast<size_t>(std::ranges::count_if(slots, isBusy));
    if (busy == 0)
      return;
    std::vector<std::vector<double>> logits(1);
    continuationSpeed.measure(busy, [&] {
      if (batch)
        logits = batch->next(texts);
      else
        logits.front() = model->next(texts.front());
    });
    for (size_t slot = 0; slot < slots.size(); ++slot)
      if (slots[slot])
        addNextToken(slots[slot], logits[slot]);
  }

  /// Chooses the next token and adds it to the text. A text that ends leaves its slot.
  void addNextToken(std::optional<RunningText> &text, std::vector<double> &logits) {
    penalizeRepetition(logits, text->tokens, options.sampling.repetitionPenalty);
    const int64_t token =
        chooseToken(logits, options.sampling, text->random.uniform(text->tokens.size() + 1));
    text->hasEnded = std::find(ends.begin(), ends.end(), token) != ends.end();
    if (text->hasEnded)
      return finish(text);
    text->tokens.push_back(token);
    if (tokenizer)
      show(text->index,
           text->continuation.add(tokenizer->next(static_cast<int64_t>(text->index), token)));
    if (!options.stops.empty())
      text->hasEnded = executor.broadcastFromFirst(text->continuation.isStopped());
    if (text->hasEnded || text->count(tokens) >= options.maxTokens)
      finish(text);
  }

  void finish(std::optional<RunningText> &text) {
    continuationTokens += text->count(tokens);
    // The model has not read the last token.
    if (countDropped(tokens[text->index]) == 0 && std::ssize(text->tokens) - 1 > model->longest())
      ++overlong;
    if (tokenizer) {
      if (!text->continuation.isStopped()) {
        show(text->index,
             text->continuation.add(tokenizer->finish(static_cast<int64_t>(text->index))));
        show(text->index, text->continuation.finish());
      }
      writeEnd(*text);
    }
    text.reset();
  }

  /// Writes a fragment of plain text.
  void show(size_t index, const std::string &fragment) {
    if (!options.json)
      write(output.add(index, fragment));
  }

  /// Writes a line for JSON, or the end of a plain text.
  void writeEnd(const RunningText &text) {
    std::string line;
    if (options.json) {
      const std::vector<int64_t> added(text.tokens.end() - text.count(tokens), text.tokens.end());
      line = nlohmann::json(
                 {{"prompt", prompts[text.index]},
                  {"text", text.continuation.text()},
                  {"tokens", added},
                  {"dropped", countDropped(tokens[text.index])},
                  {"finish", text.hasEnded || text.continuation.isStopped() ? "stop" : "length"}})
                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    write(output.add(text.index, line + "\n"));
    write(output.end(text.index));
  }

  static void write(const std::string &text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    flushOutput();
  }

  Executor &executor;
  const Options &options;
  const Settings &settings;
  std::optional<TextModel> model;
  std::optional<BatchModel> batch;          // if there are several prompts
  std::unique_ptr<Tokenizer> tokenizer;     // on rank 0
  std::vector<std::string> prompts;         // on rank 0
  std::vector<std::vector<int64_t>> tokens; // of each prompt
  std::vector<int64_t> ends;                // tokens that end a text
  OrderedTexts output;
  Speed promptSpeed, continuationSpeed;
  int64_t continuationTokens = 0; ///< of all texts
  int64_t overlong = 0;           ///< texts that became longer than the program
};

} // namespace

int generate(Executor &executor, const Options &options, const Settings &settings) {
  Generation generation(executor, options, settings);
  generation.prepare();
  loadTrainedWeights(executor, options, settings);
  executor.writeScalar("seed", static_cast<double>(settings.integer("seed", 0)));
  if (!options.dryRun)
    generation.run();
  return 0;
}

} // namespace titan::rt
