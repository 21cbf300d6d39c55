// Rounds doubles to element types.

#include "compiler/interpreter/Rounding.h"

#include "mlir/IR/BuiltinTypes.h"

#include <bit>
#include <cmath>
#include <cstdint>

using namespace titan;

/// Adds half a unit in the last place, or a little less if the truncated value is even.
static float roundToBFloat16(float value) {
  if (std::isnan(value))
    return value;
  auto bits = std::bit_cast<uint32_t>(value);
  bits += 0x7FFF + (bits >> 16 & 1);
  return std::bit_cast<float>(bits & 0xFFFF0000);
}

void interpreter::roundTo(mlir::Type elementType, std::vector<double> &values) {
  if (elementType.isF32())
    for (double &value : values)
      value = static_cast<float>(value);
  else if (elementType.isBF16())
    for (double &value : values)
      value = roundToBFloat16(static_cast<float>(value));
  else if (elementType.isInteger(1))
    for (double &value : values)
      value = value != 0;
}
