// Converts elements to and from their memory format.

#include "compiler/interpreter/ElementBytes.h"

#include "mlir/IR/BuiltinTypes.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace titan;

namespace {

/// The upper half of a float.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(double value)
      : bits(std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16) {}
  explicit operator double() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

/// A poisoned integer is the least one, which is no valid index or count.
template <typename T> T convert(double value) {
  if constexpr (std::is_same_v<T, int64_t>)
    if (std::isnan(value))
      return std::numeric_limits<T>::min();
  return T(value);
}

template <typename T> void store(const std::vector<double> &values, std::byte *to) {
  for (size_t i = 0; i < values.size(); ++i) {
    T element = convert<T>(values[i]);
    std::memcpy(to + i * sizeof(T), &element, sizeof(T));
  }
}

template <typename T> void load(const std::byte *from, std::vector<double> &values) {
  for (size_t i = 0; i < values.size(); ++i) {
    T element;
    std::memcpy(&element, from + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(element);
  }
}

} // namespace

int64_t interpreter::getElementBytes(mlir::Type type) {
  if (type.isF64() || type.isInteger(64))
    return 8;
  if (type.isF32())
    return 4;
  return type.isBF16() ? 2 : type.isInteger(1) ? 1 : 0;
}

void interpreter::storeElements(mlir::Type type, const std::vector<double> &values, std::byte *to) {
  if (type.isF64())
    return store<double>(values, to);
  if (type.isF32())
    return store<float>(values, to);
  if (type.isBF16())
    return store<BFloat16>(values, to);
  if (type.isInteger(1))
    return store<uint8_t>(values, to);
  return store<int64_t>(values, to);
}

void interpreter::loadElements(mlir::Type type, const std::byte *from,
                               std::vector<double> &values) {
  if (type.isF64())
    return load<double>(from, values);
  if (type.isF32())
    return load<float>(from, values);
  if (type.isBF16())
    return load<BFloat16>(from, values);
  if (type.isInteger(1))
    return load<uint8_t>(from, values);
  return load<int64_t>(from, values);
}
