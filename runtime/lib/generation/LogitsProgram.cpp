#include "LogitsProgram.h"

#include "base/Error.h"
#include "base/data/Feed.h"

#include <algorithm>

#include <fmt/format.h>

namespace titan::rt {

namespace {

[[noreturn]] void refuse(const std::string &why) {
  throw UserError("this program cannot generate text: " + why);
}

} // namespace

LogitsProgram::LogitsProgram(Executor &executor, const std::string &function)
    : executor(&executor), function(function), tokens(findInput("tokens")),
      logits(executor.find(Role::Output, "logits", function)) {
  if (!executor.hasFunction(function) || !logits)
    refuse("its model has no output called logits");
  if (!tokens)
    refuse("its model has no input called tokens");
  checkInputs();
  length = tokens->info.dims[1].size;
  findAxes();
}

const Tensor *LogitsProgram::findInput(const char *name) const {
  return executor->find(Role::Input, name, function);
}

void LogitsProgram::checkInputs() const {
  for (const Tensor &input : executor->program().tensors)
    if (input.role == Role::Input && input.function == function &&
        (!findFeed(input.name) || input.info.dtype != DType::I64 || input.info.dims.size() != 2))
      refuse("the logits of its model depend on the input " + input.name);
}

void LogitsProgram::findAxes() {
  int64_t stride = 1;
  const std::vector<Dim> &dims = logits->info.dims;
  const DataDims &names = executor->program().dims;
  auto isText = [&](const Dim &dim) { return dim.name == names.samples || dim.name == kSlotDim; };
  auto isPosition = [&](const Dim &dim) { return dim.name == names.positions; };
  if (names.positions.empty())
    refuse("its samples have no positions");
  if (dims.size() != 3 || std::ranges::none_of(dims, isText) ||
      std::ranges::none_of(dims, isPosition))
    refuse(fmt::format("the output logits of its model must have {}, {} and one dimension more",
                       names.samples, names.positions));
  for (auto dim = dims.rbegin(); dim != dims.rend(); stride *= dim++->size)
    if (isPosition(*dim))
      rows = {dim->size, stride};
    else if (isText(*dim))
      texts = {dim->size, stride};
    else // the only such dimension
      columns = {dim->size, stride};
}

template <class Number> void LogitsProgram::load(const Tensor &input, Number numberAt) const {
  if (!executor->has(input))
    return;
  HostView host = executor->view(input, HostView::Access::Write);
  executor->getLayout(input.info).forEachRun([&](const ShardRun &run) {
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t element = run.global + i;
      host.as<int64_t>()[run.local + i] = numberAt(element / length % slots(), element % length);
    }
  });
}

void LogitsProgram::writePositions(std::span<const TextChunk> chunks) const {
  if (slots() == 1)
    return executor->writeScalar(kPosition, static_cast<double>(chunks.front().start));
  const Tensor &positions = *executor->find(Role::Scalar, kSlotPositions, function);
  HostView host = executor->view(positions, HostView::Access::Write);
  for (size_t slot = 0; slot < chunks.size(); ++slot)
    host.as<int64_t>()[slot] = chunks[slot].start;
}

void LogitsProgram::run(std::span<const TextChunk> chunks) const {
  load(*tokens, [&](int64_t slot, int64_t column) {
    const std::span<const int64_t> text = chunks[slot].tokens;
    return column < static_cast<int64_t>(text.size()) ? text[column] : 0;
  });
  if (const Tensor *documents = findInput("documents"))
    load(*documents, [](int64_t, int64_t) { return 0; });
  if (const Tensor *positions = findInput("positions"))
    load(*positions, [&](int64_t slot, int64_t column) { return chunks[slot].start + column; });
  if (const Tensor *used = findInput("used"))
    load(*used, [](int64_t, int64_t) { return 1; });
  writePositions(chunks);
  executor->run(function);
}

std::vector<std::vector<double>> LogitsProgram::collect(std::span<const int64_t> indices) const {
  std::vector<double> all(indices.size() * columns.size);
  HostView host = executor->view(*logits, HostView::Access::Read);
  const std::byte *data = host.data();
  if (executor->isWriter(*logits))
    executor->getLayout(logits->info).forEachRun([&](const ShardRun &run) {
      for (int64_t i = 0; i < run.count; ++i) {
        const int64_t element = run.global + i, text = texts.at(element);
        if (rows.at(element) == indices[text])
          all[text * columns.size + columns.at(element)] = valueAt(data, run.local + i);
      }
    });
  executor->world().worldGroup().allReduce(all.data(), static_cast<int64_t>(all.size()), DType::F64,
                                           Reduction::Sum, {"collecting logits", ""});
  std::vector<std::vector<double>> logitsOfTexts(indices.size());
  for (size_t text = 0; text < indices.size(); ++text)
    if (auto begin = all.begin() + static_cast<int64_t>(text) * columns.size; indices[text] >= 0)
      logitsOfTexts[text].assign(begin, begin + columns.size);
  return logitsOfTexts;
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

} // namespace titan::rt
