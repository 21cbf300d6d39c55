// bf16 storage: the upper half of a float, with 8 significant bits. It converts to float for
// arithmetic and rounds to nearest even on store; it defines no arithmetic. The conversions are
// integer operations that compilers vectorise, on CPUs and on devices. The bytes equal safetensors'
// BF16, LibTorch's BFloat16 and CUDA's __nv_bfloat16.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define TITAN_EVERYWHERE __host__ __device__
#else
#define TITAN_EVERYWHERE
#endif

namespace titan::rt {

struct bf16 {
  uint16_t bits;

  bf16() = default;
  TITAN_EVERYWHERE bf16(float value) : bits(round(value)) {}
  /// Assigns the bits: GCC does not vectorise stores of a temporary bf16.
  TITAN_EVERYWHERE bf16 &operator=(float value) {
    bits = round(value);
    return *this;
  }
  TITAN_EVERYWHERE operator float() const {
    const uint32_t whole = static_cast<uint32_t>(bits) << 16;
    float value;
    memcpy(&value, &whole, sizeof value);
    return value;
  }

private:
  TITAN_EVERYWHERE static uint16_t round(float value) {
    uint32_t whole;
    memcpy(&whole, &value, sizeof whole);
    const uint32_t rounded = (whole + 0x7fff + (whole >> 16 & 1)) >> 16;
    // A NaN must not be rounded to infinity.
    return static_cast<uint16_t>(value != value ? whole >> 16 | 0x40 : rounded);
  }
};
static_assert(sizeof(bf16) == 2);

/// The type in which elements of T are summed: float for bf16, else T.
template <typename T> struct Accumulation {
  using Type = T;
};
template <> struct Accumulation<bf16> {
  using Type = float;
};
template <typename T> using Accumulated = typename Accumulation<T>::Type;

} // namespace titan::rt
