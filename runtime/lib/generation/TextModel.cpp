#include "TextModel.h"

#include "base/Error.h"
#include "base/data/Feed.h"
#include "data/BatchReader.h"

#include <algorithm>

#include <fmt/format.h>

namespace titan::rt {

namespace {

[[noreturn]] void refuse(const std::string &why) {
  throw UserError("this program writes no text: " + why);
}

} // namespace

LogitsProgram::LogitsProgram(Executor &executor, const std::string &function)
    : executor(&executor), function(function), tokens(input("tokens")),
      logits(executor.find(Role::Output, "logits", function)) {
  if (!executor.hasFunction(function) || !logits)
    refuse("its model has no output called logits");
  if (!tokens)
    refuse("its model has no input called tokens");
  checkInputs();
  length = tokens->info.dims[1].size;
  findAxes();
}

const Tensor *LogitsProgram::input(const char *name) const {
  return executor->find(Role::Input, name, function);
}

/// Arrays may give a model other inputs than a text.
void LogitsProgram::checkInputs() const {
  for (const InputSpec &input : inputsOf(executor->program(), function))
    if (!findFeed(input.name) || input.type != DType::I64 || input.shape.size() != 1)
      refuse("the logits of its model depend on the input " + input.name);
}

/// The model may declare its logits in any order.
void LogitsProgram::findAxes() {
  int64_t stride = 1;
  const std::vector<Dim> &dims = logits->info.dims;
  auto has = [&](const char *name) {
    return std::count_if(dims.begin(), dims.end(),
                         [&](const Dim &dim) { return dim.name == name; });
  };
  if (dims.size() != 3 || !has("batch") || !has("seq"))
    refuse("the output logits of its model must have batch, seq and one dimension more");
  for (auto dim = dims.rbegin(); dim != dims.rend(); stride *= dim++->size)
    if (dim->name == std::string("seq"))
      rows = {dim->size, stride};
    else if (dim->name != std::string("batch")) // the only such dimension
      columns = {dim->size, stride};
}

/// All samples are equal.
template <class Number> void LogitsProgram::load(const Tensor &input, Number at) const {
  if (!executor->has(input))
    return;
  HostView host = executor->view(input, HostView::Access::Write);
  executor->layoutOf(input.info).forEachRun([&](const ShardRun &run) {
    for (int64_t i = 0; i < run.count; ++i)
      host.as<int64_t>()[run.local + i] = at((run.global + i) % length);
  });
}

void LogitsProgram::run(std::span<const int64_t> text, int64_t start) const {
  const auto count = static_cast<int64_t>(text.size());
  load(*tokens, [&](int64_t column) { return column < count ? text[column] : 0; });
  if (const Tensor *documents = input("documents"))
    load(*documents, [](int64_t) { return 0; });
  if (const Tensor *positions = input("positions"))
    load(*positions, [&](int64_t column) { return start + column; });
  executor->writeScalar(kPosition, static_cast<double>(start));
  executor->run(function);
}

std::vector<double> LogitsProgram::collect(int64_t index) const {
  std::vector<double> row(columns.size);
  HostView host = executor->view(*logits, HostView::Access::Read);
  const std::byte *data = host.data();
  if (executor->isWriter(*logits))
    executor->layoutOf(logits->info).forEachRun([&](const ShardRun &run) {
      for (int64_t i = 0; i < run.count; ++i)
        if (rows.at(run.global + i) == index)
          row[columns.at(run.global + i)] = valueAt(data, run.local + i);
    });
  executor->world().worldGroup().allReduce(row.data(), columns.size, DType::F64, Reduction::Sum,
                                           {"collecting logits", ""});
  return row;
}

double LogitsProgram::valueAt(const std::byte *data, int64_t index) const {
  switch (logits->info.dtype) {
  case DType::F64:
    return reinterpret_cast<const double *>(data)[index];
  case DType::BF16:
    return reinterpret_cast<const bf16 *>(data)[index];
  default:
    return reinterpret_cast<const float *>(data)[index];
  }
}

TextModel::TextModel(Executor &executor, bool caches)
    : length(executor.program().seq),
      token(executor, caches && executor.hasFunction("decode") ? "decode" : "logits") {
  if (!caches || !executor.hasFunction("decode"))
    return;
  cached.emplace();
  if (executor.hasFunction("prefill"))
    prefill.emplace(executor, "prefill");
}

/// Computes the positions that are not in the caches.
std::vector<double> TextModel::extend(std::span<const int64_t> window) {
  // The last position is computed in any case, for its logits.
  const auto end = static_cast<int64_t>(window.size());
  int64_t position =
      std::mismatch(cached->begin(), cached->end(), window.begin(), window.end() - 1).second -
      window.begin();
  cached->resize(static_cast<size_t>(position)); // valid, whatever happens below
  std::vector<double> logits;
  while (position < end) {
    // A chunk is worth its padding from an eighth of its positions on.
    const bool isLong = prefill && 8 * (end - position) >= prefill->positions() &&
                        position + prefill->positions() <= length && end - position > 1;
    const LogitsProgram &program = isLong ? *prefill : token;
    const int64_t count = std::min(program.positions(), end - position);
    program.run(window.subspan(position, count), position);
    position += count;
    if (position == end)
      logits = program.collect(count - 1);
  }
  cached->assign(window.begin(), window.end());
  return logits;
}

std::vector<double> TextModel::next(std::span<const int64_t> text) {
  const auto count = std::min(static_cast<int64_t>(text.size()), length);
  const std::span<const int64_t> window = text.last(static_cast<size_t>(count));
  if (cached)
    return extend(window);
  token.run(window, 0);
  return token.collect(count - 1);
}

} // namespace titan::rt
