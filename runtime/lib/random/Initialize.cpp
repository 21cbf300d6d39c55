#include "Initialize.h"

#include "base/random/RandomStream.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace titan::rt {

namespace {

constexpr int kBlock = 128; // elements per draw, to fill vectors

/// The initial values of the elements from `first` on.
void draw(const Initializer &init, const RandomStream &stream, uint64_t first,
          double (&values)[kBlock]) {
  switch (init.kind) {
  case Init::Constant:
    std::fill_n(values, kBlock, init.scale);
    return;
  case Init::Uniform:
    stream.uniforms(first, values);
    for (double &value : values)
      value = init.scale * (2.0 * value - 1.0);
    return;
  case Init::Normal:
  case Init::TruncatedNormal:
    stream.normals(first, values);
    if (init.kind == Init::TruncatedNormal)
      for (uint64_t i = 0; i < kBlock; ++i)
        if (!(values[i] >= -init.cut && values[i] <= init.cut))
          values[i] = stream.truncatedNormal(first + i, -init.cut, init.cut, 1);
    for (double &value : values)
      value *= init.scale;
    return;
  }
}

template <typename T>
void fill(const Initializer &init, const RandomStream &stream, int64_t first, int64_t count,
          T *out) {
  double values[kBlock];
  for (int64_t at = 0; at < count; at += kBlock) {
    draw(init, stream, static_cast<uint64_t>(first + at), values);
    const int64_t wanted = std::min<int64_t>(kBlock, count - at);
    for (int64_t i = 0; i < wanted; ++i)
      out[at + i] = static_cast<T>(values[i]);
  }
}

} // namespace

void initializeRange(const Initializer &init, uint64_t seed, std::string_view name, int64_t first,
                     int64_t count, DType type, void *out) {
  RandomStream stream(seed, "init", name);
  switch (type) {
  case DType::F32:
    return fill(init, stream, first, count, static_cast<float *>(out));
  case DType::F64:
    return fill(init, stream, first, count, static_cast<double *>(out));
  case DType::BF16:
    return fill(init, stream, first, count, static_cast<bf16 *>(out));
  case DType::I64: // the compiler allows only integer constants
    return fill(init, stream, first, count, static_cast<int64_t *>(out));
  default:
    throw std::invalid_argument(std::string("parameters of type ") + getName(type) +
                                " cannot be initialised");
  }
}

} // namespace titan::rt
