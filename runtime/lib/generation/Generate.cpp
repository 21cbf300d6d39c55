#include "Generate.h"

#include "Sampling.h"
#include "checkpoint/Checkpoint.h"

#include "base/Error.h"
#include "base/data/Feed.h"
#include "base/random/RandomStream.h"
#include "data/BatchReader.h"
#include "metrics/Metrics.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace titan::rt {

namespace {

class Generator {
public:
  explicit Generator(Executor &executor)
      : executor(executor), tokens(executor.find(Role::Input, "tokens", "logits")),
        logits(executor.find(Role::Output, "logits", "logits")) {
    if (!executor.hasFunction("logits") || !logits)
      throw UserError("this program writes no text: its model has no output called logits");
    if (!tokens)
      throw UserError("this program writes no text: its model has no input called tokens");
    checkInputs();
    length = tokens->info.dims[1].size;
    findAxes();
  }

  /// Logits of the token after `text`, the same on every rank.
  std::vector<double> next(const std::vector<int64_t> &text) {
    size_t first = text.size() > static_cast<size_t>(length) ? text.size() - length : 0;
    load(*tokens, [&](int64_t column) {
      size_t position = first + static_cast<size_t>(column);
      return position < text.size() ? text[position] : 0;
    });
    if (const Tensor *documents = executor.find(Role::Input, "documents", "logits"))
      load(*documents, [](int64_t) { return 0; });
    if (const Tensor *positions = executor.find(Role::Input, "positions", "logits"))
      load(*positions, [](int64_t column) { return column; });
    executor.run("logits");
    return collect(static_cast<int64_t>(text.size() - first) - 1);
  }

  /// Number of logits of a token.
  int64_t vocabulary() const { return columns.size; }

private:
  /// A dimension of the logits: its size, and its stride in the global tensor.
  struct Axis {
    int64_t size = 1, stride = 1;
    int64_t at(int64_t element) const { return element / stride % size; }
  };

  /// Arrays may give a model other inputs than a text.
  void checkInputs() const {
    for (const InputSpec &input : inputsOf(executor.program(), "logits"))
      if (!findFeed(input.name) || input.type != DType::I64 || input.shape.size() != 1)
        throw UserError(
            "this program writes no text: the logits of its model depend on the input " +
            input.name);
  }

  /// The model may declare its logits in any order.
  void findAxes() {
    int64_t stride = 1;
    const std::vector<Dim> &dims = logits->info.dims;
    auto has = [&](const char *name) {
      return std::count_if(dims.begin(), dims.end(),
                           [&](const Dim &dim) { return dim.name == name; });
    };
    if (dims.size() != 3 || !has("batch") || !has("seq"))
      throw UserError(
          "this program writes no text: the output logits of its model must have batch, "
          "seq and one dimension more");
    for (auto dim = dims.rbegin(); dim != dims.rend(); stride *= dim++->size)
      if (dim->name == std::string("seq"))
        rows = {dim->size, stride};
      else if (dim->name != std::string("batch")) // the only such dimension
        columns = {dim->size, stride};
  }

  /// All samples are equal.
  template <class Number> void load(const Tensor &input, Number at) {
    if (!executor.has(input))
      return;
    HostView host = executor.view(input, HostView::Access::Write);
    executor.layoutOf(input.info).forEachRun([&](const ShardRun &run) {
      for (int64_t i = 0; i < run.count; ++i)
        host.as<int64_t>()[run.local + i] = at((run.global + i) % length);
    });
  }

  /// Row `position` of the logits, gathered from the ranks that hold its shards.
  std::vector<double> collect(int64_t position) {
    std::vector<double> row(columns.size);
    HostView host = executor.view(*logits, HostView::Access::Read);
    const std::byte *data = host.data();
    if (executor.isWriter(*logits))
      executor.layoutOf(logits->info).forEachRun([&](const ShardRun &run) {
        for (int64_t i = 0; i < run.count; ++i)
          if (rows.at(run.global + i) == position)
            row[columns.at(run.global + i)] = valueAt(data, run.local + i);
      });
    executor.world().worldGroup().allReduce(row.data(), columns.size, DType::F64, Reduction::Sum,
                                            {"collecting logits", ""});
    return row;
  }

  double valueAt(const std::byte *data, int64_t index) const {
    switch (logits->info.dtype) {
    case DType::F64:
      return reinterpret_cast<const double *>(data)[index];
    case DType::BF16:
      return reinterpret_cast<const bf16 *>(data)[index];
    default:
      return reinterpret_cast<const float *>(data)[index];
    }
  }

  Executor &executor;
  const Tensor *tokens, *logits;
  Axis rows, columns;
  int64_t length; // compiled sequence length
};

/// Tokens as text: bytes, or numbers if their meaning is unknown.
class Spelling {
public:
  Spelling(bool isText, int64_t vocabulary) : isText(isText), vocabulary(vocabulary) {}

  std::vector<int64_t> read(const std::string &prompt) const {
    std::vector<int64_t> tokens;
    if (isText)
      readBytes(prompt, tokens);
    else
      readNumbers(prompt, tokens);
    if (tokens.empty())
      throw UserError(isText ? "generate needs at least one byte to go on from: pass --prompt TEXT"
                             : "generate needs at least one token to go on from: pass --prompt "
                               "'NUMBER ...'");
    return tokens;
  }
  std::string write(int64_t token) const {
    if (!isText)
      return fmt::format(" {}", token);
    return token < 256 ? std::string(1, static_cast<char>(token)) : "\uFFFD"; // not a byte
  }

private:
  void readBytes(const std::string &prompt, std::vector<int64_t> &tokens) const {
    for (unsigned char byte : prompt) {
      if (byte >= vocabulary)
        throw UserError(fmt::format("--prompt has the byte {}, and the model knows those up to {}",
                                    byte, vocabulary - 1));
      tokens.push_back(byte);
    }
  }

  void readNumbers(const std::string &prompt, std::vector<int64_t> &tokens) const {
    std::istringstream words(prompt);
    for (std::string word; words >> word;) {
      int64_t token = -1;
      auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), token);
      if (error != std::errc() || end != word.data() + word.size() || token < 0 ||
          token >= vocabulary)
        throw UserError(fmt::format("--prompt takes numbers of tokens, 0 to {}, as the data have; "
                                    "'{}' is none",
                                    vocabulary - 1, word));
      tokens.push_back(token);
    }
  }

  bool isText;
  int64_t vocabulary;
};

} // namespace

int generate(Executor &executor, const Options &options, const Settings &settings) {
  std::optional<Generator> generator;
  std::optional<Spelling> spelling;
  std::vector<int64_t> text;
  executor.world().runCollectively([&] {
    generator.emplace(executor);
    if (options.initFrom.empty())
      throw UserError("generate needs weights: pass --init-from DIR or FILE.safetensors");
    const int64_t vocab = executor.program().vocab; // arrays have none
    spelling.emplace(settings.text("data.format", "text") == "text",
                     vocab ? vocab : generator->vocabulary());
    text = spelling->read(options.prompt);
  });
  const LoadedWeights loaded =
      loadWeights(executor, options.initFrom, static_cast<uint64_t>(settings.integer("seed", 0)));
  printNotes(executor, loaded);
  if (options.dryRun)
    return 0;
  // Weights without a step are those of the last one.
  executor.writeScalar("step",
                       static_cast<double>(loaded.step.value_or(settings.integer("steps", 100))));

  auto print = [&](const std::string &fragment) {
    if (executor.isFirst())
      std::fwrite(fragment.data(), 1, fragment.size(), stdout);
    flushOutput();
  };
  RandomStream random(static_cast<uint64_t>(settings.integer("seed", 0)), "generate", "");
  print(options.prompt);
  for (int64_t i = 0; i < options.maxTokens; ++i) {
    text.push_back(
        chooseToken(generator->next(text), options.sampling, random.uniform(text.size())));
    print(spelling->write(text.back()));
  }
  print("\n");
  return 0;
}

} // namespace titan::rt
