#include "SharedMemoryGroup.h"

#include "Rendezvous.h"

#include "titan/runtime/dtype.h"
#include "titan/runtime/error.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace titan::rt {

namespace {

const std::byte *at(const void *data, int64_t bytes) {
  return static_cast<const std::byte *>(data) + bytes;
}
std::byte *at(void *data, int64_t bytes) {
  return static_cast<std::byte *>(data) + bytes;
}

template <typename T> T combine(T a, T b, Reduction op) {
  switch (op) {
  case Reduction::Sum:
    return a + b;
  case Reduction::Max:
    return a < b ? b : a;
  case Reduction::Min:
    return b < a ? b : a;
  }
  return a;
}

/// out = out op in.
template <typename T> void combineInto(T *out, const T *in, int64_t count, Reduction op) {
  if (op == Reduction::Sum) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
      out[i] += in[i];
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    out[i] = combine(out[i], in[i], op);
}

float widen(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// To the nearest bf16, ties to even; NaN stays NaN.
uint16_t narrow(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (value != value)
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace

size_t SharedMemoryGroup::slotBytes(size_t members) {
  constexpr size_t largest = size_t{2} << 20, all = size_t{16} << 20, page = 4096;
  return std::clamp(all / members / page * page, 64 * page, largest);
}

std::byte *SharedMemoryGroup::half(int member) const {
  return memory->slot(member) + (piece % 2) * halfBytes();
}

void SharedMemoryGroup::meet(const char *operation, Site site) {
  auto begin = std::chrono::steady_clock::now();
  std::string problem = memory->barrier(timeout);
  if (problem.empty())
    return;
  std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
  throw Fault(describeFailure(*this, operation, site, problem, waited.count()));
}

void SharedMemoryGroup::reduceHalves(void *out, size_t offset, int64_t count, DType type,
                                     Reduction op) const {
  auto reduce = [&]<typename T>(T *to) {
    std::memcpy(to, half(0) + offset, count * sizeof(T));
    for (int member = 1; member < size(); ++member)
      combineInto(to, reinterpret_cast<const T *>(half(member) + offset), count, op);
  };
  switch (type) {
  case DType::F32:
    return reduce(static_cast<float *>(out));
  case DType::F64:
    return reduce(static_cast<double *>(out));
  case DType::I64:
    return reduce(static_cast<int64_t *>(out));
  case DType::BF16: // summed in float, rounded once
    for (int64_t i = 0; i < count; ++i) {
      auto value = [&](int member) {
        return widen(reinterpret_cast<const uint16_t *>(half(member) + offset)[i]);
      };
      float total = value(0);
      for (int member = 1; member < size(); ++member)
        total = combine(total, value(member), op);
      static_cast<uint16_t *>(out)[i] = narrow(total);
    }
    return;
  case DType::Bool:
    throw Fault("a reduction of truth values is not defined");
  }
}

void SharedMemoryGroup::allReduce(void *data, int64_t count, DType type, Reduction op, Site site) {
  int64_t width = sizeOf(type), n = size();
  // Each member reduces its share of a piece in place of its own contribution, in the half it
  // wrote.
  int64_t most = static_cast<int64_t>(halfBytes()) / width / 2;
  for (int64_t done = 0; done < count; done += most) {
    int64_t length = std::min(most, count - done);
    int64_t share = (length + n - 1) / n;
    auto begin = [&](int64_t member) { return std::min(length, member * share); };
    int64_t own = begin(rank() + 1) - begin(rank());
    std::byte *result = half(rank()) + most * width; // behind the contribution
    std::memcpy(half(rank()), at(data, done * width), length * width);
    meet("all_reduce", site);
    reduceHalves(result, begin(rank()) * width, own, type, op);
    meet("all_reduce", site);
    for (int member = 0; member < n; ++member)
      std::memcpy(at(data, (done + begin(member)) * width), half(member) + most * width,
                  (begin(member + 1) - begin(member)) * width);
    ++piece;
  }
}

void SharedMemoryGroup::allGather(const void *input, void *output, int64_t count, DType type,
                                  Site site) {
  int64_t width = sizeOf(type), most = static_cast<int64_t>(halfBytes()) / width;
  for (int64_t done = 0; done < count; done += most) {
    int64_t bytes = std::min(most, count - done) * width;
    std::memcpy(half(rank()), at(input, done * width), bytes);
    meet("all_gather", site);
    for (int member = 0; member < size(); ++member)
      std::memcpy(at(output, (member * count + done) * width), half(member), bytes);
    ++piece;
  }
}

void SharedMemoryGroup::reduceScatter(const void *input, void *output, int64_t count, DType type,
                                      Reduction op, Site site) {
  int64_t width = sizeOf(type), n = size();
  int64_t most = static_cast<int64_t>(halfBytes()) / width / n;
  for (int64_t done = 0; done < count; done += most) {
    int64_t length = std::min(most, count - done);
    for (int64_t member = 0; member < n; ++member)
      std::memcpy(half(rank()) + member * length * width,
                  at(input, (member * count + done) * width), length * width);
    meet("reduce_scatter", site);
    reduceHalves(at(output, done * width), rank() * length * width, length, type, op);
    ++piece;
  }
}

void SharedMemoryGroup::allToAll(const void *input, void *output, int64_t count, DType type,
                                 Site site) {
  int64_t width = sizeOf(type), n = size();
  int64_t most = static_cast<int64_t>(halfBytes()) / width / n;
  for (int64_t done = 0; done < count; done += most) {
    int64_t bytes = std::min(most, count - done) * width;
    for (int64_t member = 0; member < n; ++member)
      std::memcpy(half(rank()) + member * bytes, at(input, (member * count + done) * width), bytes);
    meet("all_to_all", site);
    for (int member = 0; member < n; ++member)
      std::memcpy(at(output, (member * count + done) * width), half(member) + rank() * bytes,
                  bytes);
    ++piece;
  }
}

void SharedMemoryGroup::broadcast(void *data, int64_t count, DType type, int root, Site site) {
  int64_t width = sizeOf(type), most = static_cast<int64_t>(halfBytes()) / width;
  for (int64_t done = 0; done < count; done += most) {
    int64_t bytes = std::min(most, count - done) * width;
    if (rank() == root)
      std::memcpy(half(root), at(data, done * width), bytes);
    meet("broadcast", site);
    if (rank() != root)
      std::memcpy(at(data, done * width), half(root), bytes);
    ++piece;
  }
}

void SharedMemoryGroup::barrier(Site site) {
  meet("barrier", site);
  ++piece;
}

} // namespace titan::rt
