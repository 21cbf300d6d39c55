#include "Combine.h"

#include "base/Error.h"
#include "titan/runtime/bfloat16.h"

#include <algorithm>
#include <functional>

namespace titan::rt {

namespace {

/// The number of elements that are accumulated at once.
constexpr int64_t kBlock = 1024;

/// The maximum or minimum. NaN propagates, as in kernels.
template <typename Sum, typename Wins> Sum chosen(Sum a, Sum b, Wins wins) {
  return wins(b, a) || b != b ? b : a;
}

template <typename Sum, typename T>
void combineInto(Sum *sums, const T *terms, int64_t count, Reduction op) {
  switch (op) {
  case Reduction::Sum:
    for (int64_t i = 0; i < count; ++i)
      sums[i] += static_cast<Sum>(terms[i]);
    return;
  case Reduction::Max:
    for (int64_t i = 0; i < count; ++i)
      sums[i] = chosen(sums[i], static_cast<Sum>(terms[i]), std::greater<Sum>());
    return;
  case Reduction::Min:
    for (int64_t i = 0; i < count; ++i)
      sums[i] = chosen(sums[i], static_cast<Sum>(terms[i]), std::less<Sum>());
    return;
  }
}

template <typename T>
void combineAs(std::byte *out, std::span<const std::byte *const> terms, int64_t count,
               Reduction op) {
  using Sum = Accumulated<T>;
  auto elements = [](auto *bytes) { return reinterpret_cast<const T *>(bytes); };
  T *results = reinterpret_cast<T *>(out);
  Sum sums[kBlock]; // not `results`, which may alias a later term
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t length = std::min(kBlock, count - begin);
    for (int64_t i = 0; i < length; ++i)
      sums[i] = static_cast<Sum>(elements(terms[0])[begin + i]);
    for (const std::byte *term : terms.subspan(1))
      combineInto(sums, elements(term) + begin, length, op);
    for (int64_t i = 0; i < length; ++i)
      results[begin + i] = static_cast<T>(sums[i]);
  }
}

} // namespace

void combine(std::byte *out, std::span<const std::byte *const> terms, int64_t count, DType type,
             Reduction op) {
  switch (type) {
  case DType::F32:
    return combineAs<float>(out, terms, count, op);
  case DType::F64:
    return combineAs<double>(out, terms, count, op);
  case DType::I64:
    return combineAs<int64_t>(out, terms, count, op);
  case DType::BF16:
    return combineAs<bf16>(out, terms, count, op);
  case DType::Bool: // 0 or 1; programs count in integers and never add booleans
    if (op == Reduction::Sum)
      throw Fault("a sum of booleans is not defined");
    return combineAs<uint8_t>(out, terms, count, op);
  }
}

} // namespace titan::rt
