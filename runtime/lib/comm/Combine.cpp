#include "Combine.h"

#include "base/Error.h"
#include "titan/runtime/bfloat16.h"

#include <algorithm>
#include <functional>
#include <type_traits>

namespace titan::rt {

namespace {

/// The number of elements that are accumulated at once; their sums are on the stack.
constexpr int64_t kBlock = 1024;

/// The maximum for isBetter = std::greater, the minimum for std::less. NaN propagates, as in
/// kernels.
template <typename Sum, typename IsBetter> Sum selectExtreme(Sum a, Sum b, IsBetter isBetter) {
  return isBetter(b, a) || b != b ? b : a;
}

/// sums[i] = sums[i] op terms[i].
template <typename Sum, typename T>
void combineInto(Sum *sums, const T *terms, int64_t count, Reduction op) {
  switch (op) {
  case Reduction::Sum:
    for (int64_t i = 0; i < count; ++i)
      sums[i] += static_cast<Sum>(terms[i]);
    return;
  case Reduction::Max:
    for (int64_t i = 0; i < count; ++i)
      sums[i] = selectExtreme(sums[i], static_cast<Sum>(terms[i]), std::greater<Sum>());
    return;
  case Reduction::Min:
    for (int64_t i = 0; i < count; ++i)
      sums[i] = selectExtreme(sums[i], static_cast<Sum>(terms[i]), std::less<Sum>());
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

template <typename T>
void combineNextAs(std::byte *partial, const std::byte *before, bool isFirst,
                   const std::byte *terms, int64_t count, Reduction op) {
  using Sum = Accumulated<T>;
  Sum *sums = reinterpret_cast<Sum *>(partial);
  if (isFirst)
    std::copy_n(reinterpret_cast<const T *>(before), count, sums);
  else
    std::copy_n(reinterpret_cast<const Sum *>(before), count, sums);
  combineInto(sums, reinterpret_cast<const T *>(terms), count, op);
}

/// Calls `body` with a null pointer to the type of the elements. Booleans are 0 or 1; programs
/// count in integers and never add booleans.
template <typename Body> void withElements(DType type, Body body) {
  switch (type) {
  case DType::F32:
    return body(static_cast<float *>(nullptr));
  case DType::F64:
    return body(static_cast<double *>(nullptr));
  case DType::I64:
    return body(static_cast<int64_t *>(nullptr));
  case DType::BF16:
    return body(static_cast<bf16 *>(nullptr));
  case DType::Bool:
    return body(static_cast<uint8_t *>(nullptr));
  }
}

void refuseSumOfBooleans(DType type, Reduction op) {
  if (type == DType::Bool && op == Reduction::Sum)
    throw Fault("booleans cannot be summed");
}

} // namespace

void combine(std::byte *out, std::span<const std::byte *const> terms, int64_t count, DType type,
             Reduction op) {
  refuseSumOfBooleans(type, op);
  withElements(type, [&](auto *element) {
    combineAs<std::remove_pointer_t<decltype(element)>>(out, terms, count, op);
  });
}

void combineNext(std::byte *partial, const std::byte *before, bool isFirst, const std::byte *terms,
                 int64_t count, DType type, Reduction op) {
  refuseSumOfBooleans(type, op);
  withElements(type, [&](auto *element) {
    using T = std::remove_pointer_t<decltype(element)>;
    combineNextAs<T>(partial, before, isFirst, terms, count, op);
  });
}

void combineLast(std::byte *out, const std::byte *partial, int64_t count, DType type) {
  withElements(type, [&](auto *element) {
    using T = std::remove_pointer_t<decltype(element)>;
    std::transform(reinterpret_cast<const Accumulated<T> *>(partial),
                   reinterpret_cast<const Accumulated<T> *>(partial) + count,
                   reinterpret_cast<T *>(out), [](Accumulated<T> sum) { return T(sum); });
  });
}

} // namespace titan::rt
