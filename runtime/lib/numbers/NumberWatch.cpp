#include "NumberWatch.h"

#include "titan/runtime/watch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace titan::rt {

using namespace tm;

namespace {

/// `Word`: the bits of an element; `exponent`: those that only such numbers have all set.
template <typename Word>
uint8_t findBits(const std::byte *data, int64_t count, Word exponent, Word mantissa) {
  uint8_t bits = 0;
#pragma omp parallel for reduction(| : bits)
  for (int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, data + i * static_cast<int64_t>(sizeof(Word)), sizeof(Word));
    if ((word & exponent) == exponent)
      bits |= (word & mantissa) ? HasNan : HasInfinity;
  }
  return bits;
}

template <size_t size> void copyText(std::array<char, size> &to, std::string_view text) {
  const size_t length = std::min(text.size(), size - 1);
  std::copy_n(text.data() + text.size() - length, length, to.data()); // ends of paths tell more
  to[length] = '\0';
}

std::string describe(const Iteration *innermost) {
  std::string text;
  for (const Iteration *each = innermost; each; each = each->outer)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", each->dim, each->index);
  return text;
}

} // namespace

uint8_t findNumberBits(const void *data, DType type, int64_t count) {
  const auto *bytes = static_cast<const std::byte *>(data);
  switch (type) {
  case DType::F64:
    return findBits<uint64_t>(bytes, count, 0x7ff0000000000000, 0x000fffffffffffff);
  case DType::F32:
    return findBits<uint32_t>(bytes, count, 0x7f800000, 0x007fffff);
  case DType::BF16:
    return findBits<uint16_t>(bytes, count, 0x7f80, 0x007f);
  case DType::I64:
  case DType::Bool:
    return 0;
  }
  return 0;
}

void watch(Context &ctx, std::initializer_list<Numbers> reads,
           std::initializer_list<Numbers> writes, int channel) {
  ctx.numbers->operation(ctx, reads, writes, channel);
}

void watchSteps(Context &ctx, const WatchedStep *steps, const uint8_t *seen, size_t count) {
  ctx.numbers->steps(ctx, {steps, count}, seen);
}

void NumberWatch::beginFragment(const FragmentPosition &position) {
  order[1] = position.phase;
  order[2] = position.microbatch;
  order[3] = position.pass;
}

uint8_t NumberWatch::readBits(const Numbers &numbers) {
  uint8_t bits = 0;
  const int64_t size = getByteSize(numbers.type);
  auto *first = const_cast<std::byte *>(static_cast<const std::byte *>(numbers.data));
  for (int64_t row = 0; row < numbers.rows; ++row) {
    HostView host(device, first + row * numbers.stride * size, numbers.count * size,
                  HostView::Access::Read);
    bits |= findNumberBits(host.data(), numbers.type, numbers.count);
  }
  return bits;
}

FoundNumber NumberWatch::makeFound(const Context &ctx, const char *location,
                                   const char *action) const {
  FoundNumber made;
  made.order = order;
  made.isFound = 1;
  copyText(made.location, location);
  copyText(made.action, action);
  std::string iterations = describe(ctx.iteration);
  if (order[2] >= 0 && order[1] == 1) // the runtime repeats fragments
    iterations += fmt::format("{}microbatches = {}", iterations.empty() ? "" : ", ", order[2]);
  copyText(made.iterations, iterations);
  return made;
}

void NumberWatch::note(const FoundNumber &candidate, uint8_t bits) {
  auto keepFirst = [&](NonFiniteKind kind, uint8_t made) {
    FoundNumber &first = found[static_cast<size_t>(kind)];
    if (first.isFound && first.order <= candidate.order)
      return;
    first = candidate;
    first.isMade = (bits & made) != 0;
  };
  if (bits & HasNan)
    keepFirst(NonFiniteKind::Nan, MakesNan);
  if (bits & MakesInfinity)
    keepFirst(NonFiniteKind::MadeInfinity, MakesInfinity);
  else if (bits & HasInfinity)
    keepFirst(NonFiniteKind::ReadInfinity, MakesInfinity);
}

void NumberWatch::operation(const Context &ctx, std::initializer_list<Numbers> reads,
                            std::initializer_list<Numbers> writes, int channel) {
  finish();
  ++order[4];
  order[5] = 0;
  uint8_t operands = 0;
  for (const Numbers &numbers : reads)
    operands |= readBits(numbers);
  if (channel >= 0 && writes.size() == 0) {
    inFlight[channel] = operands;
    return;
  }
  if (channel >= 0) {
    const auto started = inFlight.find(channel);
    if (started == inFlight.end())
      return; // it only moves numbers
    operands = started->second;
    inFlight.erase(started);
  }
  order[5] = INT64_MAX; // after the operations within it
  pending.operation = makeFound(ctx, ctx.location, ctx.action);
  order[5] = 0;
  pending.operands = operands;
  pending.results.assign(writes.begin(), writes.end());
}

void NumberWatch::steps(const Context &ctx, std::span<const WatchedStep> steps,
                        const uint8_t *seen) {
  for (size_t i = 0; i < steps.size(); ++i)
    if (seen[i]) {
      order[5] = static_cast<int64_t>(i);
      note(makeFound(ctx, steps[i].location, steps[i].action), seen[i]);
    }
}

void NumberWatch::finish() {
  for (const Numbers &numbers : pending.results)
    if (const uint8_t bits = readBits(numbers))
      note(pending.operation, classifyResult(bits, pending.operands));
  pending.results.clear();
}

} // namespace titan::rt
