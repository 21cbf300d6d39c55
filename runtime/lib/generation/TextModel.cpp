#include "TextModel.h"

#include <algorithm>

namespace titan::rt {

TextModel::TextModel(Executor &executor, bool useCaches)
    : length(executor.program().positions),
      tokenProgram(executor, useCaches && executor.hasFunction("decode") ? "decode" : "logits") {
  if (!useCaches || !executor.hasFunction("decode"))
    return;
  cached.emplace();
  if (executor.hasFunction("prefill"))
    prefill.emplace(executor, "prefill");
}

/// Runs a program of one text. Returns the logits at the last position, if they are wanted.
static std::vector<double> compute(const LogitsProgram &program, const TextChunk &chunk,
                                   bool wanted) {
  program.run({&chunk, 1});
  const int64_t last = static_cast<int64_t>(chunk.tokens.size()) - 1;
  return wanted ? program.collect({&last, 1}).front() : std::vector<double>();
}

std::vector<double> TextModel::extend(std::span<const int64_t> window) {
  // The last position is computed in any case, for its logits.
  const auto end = static_cast<int64_t>(window.size());
  int64_t position =
      std::mismatch(cached->begin(), cached->end(), window.begin(), window.end() - 1).second -
      window.begin();
  cached->resize(static_cast<size_t>(position)); // valid even if a function below throws
  std::vector<double> logits;
  while (position < end) {
    // A chunk is worth its padding from an eighth of its positions on.
    const bool isLong = prefill && 8 * (end - position) >= prefill->positions() &&
                        position + prefill->positions() <= length && end - position > 1;
    const LogitsProgram &program = isLong ? *prefill : tokenProgram;
    const int64_t count = std::min(program.positions(), end - position);
    logits = compute(program, {window.subspan(position, count), position}, position + count == end);
    position += count;
  }
  cached->assign(window.begin(), window.end());
  return logits;
}

std::vector<double> TextModel::next(std::span<const int64_t> text) {
  const auto count = std::min(static_cast<int64_t>(text.size()), length);
  const std::span<const int64_t> window = text.last(static_cast<size_t>(count));
  if (cached)
    return extend(window);
  return compute(tokenProgram, {window, 0}, true);
}

BatchModel::BatchModel(Executor &executor, TextModel &one)
    : executor(executor), one(one), program(executor, kDecodeBatch) {}

bool BatchModel::isIn(const Executor &executor) {
  return executor.hasFunction(kDecodeBatch);
}

void BatchModel::admit(int64_t slot) {
  executor.writeScalar(kSlot, static_cast<double>(slot));
  executor.run(kAdmit);
}

std::vector<std::vector<double>> BatchModel::next(std::span<const std::span<const int64_t>> texts) {
  std::vector<TextChunk> chunks(texts.size());
  std::vector<int64_t> indices(texts.size(), -1);
  for (size_t slot = 0; slot < texts.size(); ++slot)
    if (!texts[slot].empty() && fits(texts[slot])) {
      chunks[slot] = {texts[slot].last(1), static_cast<int64_t>(texts[slot].size()) - 1};
      indices[slot] = 0;
    }
  std::vector<std::vector<double>> logits(texts.size());
  if (std::ranges::count(indices, 0)) {
    program.run(chunks);
    logits = program.collect(indices);
  }
  for (size_t slot = 0; slot < texts.size(); ++slot)
    if (!fits(texts[slot]))
      logits[slot] = one.next(texts[slot]);
  return logits;
}

} // namespace titan::rt
