#include "StoredValues.h"

#include "titan/runtime/bfloat16.h"

#include <cstring>

namespace titan::rt {

namespace {

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

} // namespace titan::rt
