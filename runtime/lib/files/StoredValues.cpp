#include "StoredValues.h"

#include "titan/runtime/bfloat16.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace titan::rt {

namespace {

/// IEEE 754 binary16 to float.
float fromHalf(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  if (exponent == 0) { // zero or subnormal: mantissa * 2^-24
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  uint32_t word = sign | (exponent == 31 ? 0xff : exponent + 112) << 23 | mantissa << 13;
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

/// Float to IEEE 754 binary16. Rounds to nearest even; numbers beyond the range become infinite.
uint16_t toHalf(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof(word));
  const uint32_t sign = word >> 16 & 0x8000, magnitude = word & 0x7fffffff;
  constexpr uint32_t infinity = 0x7f800000, leastNormal = 0x38800000; // 2^-14
  if (magnitude > infinity)                                           // NaN, with its first bits
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude < leastNormal) { // the sum with 0.5 has the unit of subnormals, 2^-24, and rounds
    float sum;
    std::memcpy(&sum, &magnitude, sizeof(sum));
    sum += 0.5F;
    uint32_t bits;
    std::memcpy(&bits, &sum, sizeof(bits));
    return static_cast<uint16_t>(sign | (bits - 0x3f000000));
  }
  const uint32_t rounded = magnitude - (112U << 23) + 0xfff + (magnitude >> 13 & 1);
  constexpr uint32_t halfInfinity = 0x7c00;
  return static_cast<uint16_t>(sign | std::min(rounded >> 13, halfInfinity));
}

/// Converts `count` consecutive elements, which may be unaligned.
template <typename From, typename To, typename Convert>
void convertRun(const std::byte *from, int64_t count, To *to, Convert convert) {
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    to[i] = static_cast<To>(convert(value));
  }
}

template <typename To>
void convertTo(std::string_view name, const std::byte *from, int64_t count, To *to) {
  auto same = [](auto value) { return value; };
  if (name == "F64")
    convertRun<double>(from, count, to, same);
  else if (name == "F32")
    convertRun<float>(from, count, to, same);
  else if (name == "BF16")
    convertRun<bf16>(from, count, to, same);
  else if (name == "F16")
    convertRun<uint16_t>(from, count, to, fromHalf);
  else if (name == "I64")
    convertRun<int64_t>(from, count, to, same);
  else if (name == "I32")
    convertRun<int32_t>(from, count, to, same);
  else if (name == "U32")
    convertRun<uint32_t>(from, count, to, same);
  else if (name == "I16")
    convertRun<int16_t>(from, count, to, same);
  else if (name == "U16")
    convertRun<uint16_t>(from, count, to, same);
  else if (name == "I8")
    convertRun<int8_t>(from, count, to, same);
  else if (name == "U8")
    convertRun<uint8_t>(from, count, to, same);
  else if (name == "BOOL")
    convertRun<uint8_t>(from, count, to, [](uint8_t value) { return value != 0; });
}

/// Converts and stores numbers; returns whether all finite ones stay finite.
template <typename From, typename To, typename Convert, typename Widen>
bool storeRun(const std::byte *from, int64_t count, std::byte *to, Convert convert, Widen widen) {
  bool fits = true;
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    const To converted = convert(value);
    fits &= std::isfinite(widen(converted)) || !std::isfinite(static_cast<double>(value));
    std::memcpy(to + i * sizeof(To), &converted, sizeof(To));
  }
  return fits;
}

template <typename From>
bool storeFrom(std::string_view name, const std::byte *from, int64_t count, std::byte *to) {
  auto same = [](auto value) { return static_cast<double>(value); };
  if (name == "F64")
    return storeRun<From, double>(from, count, to, same, same);
  if (name == "F32")
    return storeRun<From, float>(
        from, count, to, [](From value) { return static_cast<float>(value); }, same);
  if (name == "BF16")
    return storeRun<From, bf16>(
        from, count, to, [](From value) { return bf16(static_cast<float>(value)); }, same);
  if (name == "F16")
    return storeRun<From, uint16_t>(
        from, count, to, [](From value) { return toHalf(static_cast<float>(value)); }, fromHalf);
  return false;
}

} // namespace

const StoredType *findStoredType(std::string_view name) {
  using enum NumberKind;
  static constexpr StoredType types[] = {
      {"F64", Float, 8},   {"F32", Float, 4},   {"BF16", Float, 2},  {"F16", Float, 2},
      {"I64", Integer, 8}, {"I32", Integer, 4}, {"U32", Integer, 4}, {"I16", Integer, 2},
      {"U16", Integer, 2}, {"I8", Integer, 1},  {"U8", Integer, 1},  {"BOOL", Truth, 1}};
  for (const StoredType &type : types)
    if (type.name == name)
      return &type;
  return nullptr;
}

bool converts(const StoredType &stored, DType type) {
  switch (type) {
  case DType::F64:
  case DType::F32:
  case DType::BF16:
    return true;
  case DType::I64:
    return stored.kind != NumberKind::Float;
  case DType::Bool:
    return stored.kind == NumberKind::Truth;
  }
  return false;
}

void convertStored(const StoredType &stored, const std::byte *from, int64_t count, DType type,
                   void *out) {
  switch (type) {
  case DType::F64:
    return convertTo(stored.name, from, count, static_cast<double *>(out));
  case DType::F32:
    return convertTo(stored.name, from, count, static_cast<float *>(out));
  case DType::BF16:
    return convertTo(stored.name, from, count, static_cast<bf16 *>(out));
  case DType::I64:
    return convertTo(stored.name, from, count, static_cast<int64_t *>(out));
  case DType::Bool:
    return convertTo(stored.name, from, count, static_cast<bool *>(out));
  }
}

bool storeValues(DType type, const std::byte *from, int64_t count, const StoredType &stored,
                 std::byte *out) {
  switch (type) {
  case DType::F64:
    return storeFrom<double>(stored.name, from, count, out);
  case DType::F32:
    return storeFrom<float>(stored.name, from, count, out);
  case DType::BF16:
    return storeFrom<bf16>(stored.name, from, count, out);
  case DType::I64:
  case DType::Bool:
    break;
  }
  return false;
}

} // namespace titan::rt
