// Sizes that a run of the model determines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace titan::onnx {

/// A size of the inputs.
enum class Symbol : uint8_t {
  Batch,    ///< samples
  Sequence, ///< positions of the inputs
  Past,     ///< positions of the caches
};
constexpr size_t numSymbols = 3;

/// The size of an axis: `constant` plus a sum of sizes of the inputs.
struct Extent {
  int64_t constant = 0;
  std::array<int64_t, numSymbols> counts = {}; ///< how often each symbol is added

  static Extent of(Symbol symbol) {
    Extent extent;
    extent.counts[static_cast<size_t>(symbol)] = 1;
    return extent;
  }
  bool isKnown() const { return counts == std::array<int64_t, numSymbols>{}; }
  bool operator==(const Extent &) const = default;
  Extent operator+(const Extent &other) const { return combine(other, 1); }
  Extent operator-(const Extent &other) const { return combine(other, -1); }

private:
  Extent combine(const Extent &other, int64_t sign) const {
    Extent sum = *this;
    sum.constant += sign * other.constant;
    for (size_t i = 0; i < numSymbols; ++i)
      sum.counts[i] += sign * other.counts[i];
    return sum;
  }
};

} // namespace titan::onnx
