// What the operations of a training step compute, for programs with `check_numbers = true`. A step
// that looks for numbers that are not finite announces its operations. Emitted code evaluates a
// fused operation once more before it runs, one operation after the other and without storing
// results, and reports every number. In other steps, this code does not run.
#pragma once

#include "titan/runtime/program.h"

#include <array>
#include <cmath>
#include <concepts>
#include <initializer_list>
#include <memory>

namespace titan::rt {

/// The running iteration of a repeat over `dim`, from construction to destruction.
struct Iteration {
  Iteration(Context &ctx, const char *dim, int64_t index)
      : ctx(ctx), outer(ctx.iteration), dim(dim), index(index) {
    ctx.iteration = this;
  }
  ~Iteration() { ctx.iteration = outer; }
  Iteration(const Iteration &) = delete;
  Iteration &operator=(const Iteration &) = delete;

  Context &ctx;
  const Iteration *outer;
  const char *dim;
  int64_t index;
};

/// `rows` ranges of `count` numbers each, `stride` elements apart.
struct Numbers {
  DType type;
  const void *data;
  int64_t count;
  int64_t rows = 1, stride = 0;
};
/// Emitted before an operation of a training step that computes numbers, for the case that
/// `ctx.numbers` is not null: the operands now, and the results when the next operation begins. A
/// collective that starts on a channel passes its operands, and the wait passes its results.
void watch(Context &, std::initializer_list<Numbers> reads, std::initializer_list<Numbers> writes,
           int channel = -1);
/// An operation within a fused one.
struct WatchedStep {
  const char *location, *action;
};
/// The operations of the fused operation that `watch` has announced, and what each of them
/// computes.
void watchSteps(Context &, const WatchedStep *steps, const uint8_t *seen, size_t count);

namespace tm {

/// Properties of numbers, as bits. `Makes...`: a result, while no operand of it was such a number.
enum NumberBits : uint8_t { HasNan = 1, HasInfinity = 2, MakesNan = 4, MakesInfinity = 8 };

template <std::floating_point T> uint8_t classify(T value) {
  return std::isnan(value) ? HasNan : std::isinf(value) ? HasInfinity : 0;
}
template <std::integral T> uint8_t classify(T) {
  return 0;
}

/// The bits of a result with `result` from operands with `operands`.
inline uint8_t classifyResult(uint8_t result, uint8_t operands) {
  if (!(operands & HasNan) && (result & HasNan))
    result |= MakesNan;
  if (!(operands & (HasNan | HasInfinity)) && (result & HasInfinity))
    result |= MakesInfinity;
  return result;
}

/// The bits of `count` operations.
template <size_t count> class StepBits {
public:
  /// A result of operation `step`, and its operands.
  template <typename T, typename... Operands>
  void see(size_t step, T result, Operands... operands) {
    const uint8_t bits = classify(result);
    if (bits) [[unlikely]]
      seen[step] |=
          classifyResult(bits, static_cast<uint8_t>((terms[step] | ... | classify(operands))));
  }
  /// A term of a sum that `step` computes.
  template <typename T> void seeTerm(size_t step, T term) { terms[step] |= classify(term); }

  void report(Context &ctx, const WatchedStep (&steps)[count]) const {
    watchSteps(ctx, steps, seen.data(), count);
  }

private:
  std::array<uint8_t, count> seen = {}, terms = {};
};

} // namespace tm
} // namespace titan::rt
