#include "LazyTensor.h"
#include "base/Error.h"
#include "files/StoredValues.h"

#include <algorithm>
#include <array>
#include <thread>

#include <fmt/format.h>
#include <sys/mman.h>

namespace titan::rt {

LazyTensor::LazyTensor(std::string method, const std::string &dtype, std::vector<int64_t> shape,
                       Compute compute)
    : name(std::move(method)), compute(std::move(compute)) {
  for (int64_t size : shape)
    elements *= size;
  const size_t bytes = static_cast<size_t>(elements * *storedBytes(dtype));
  // Pages exist once they are written.
  void *mapped = mmap(nullptr, std::max<size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw Fault(fmt::format("no address space for {} bytes of dequantized weights", bytes));
  memory = static_cast<std::byte *>(mapped);
  stored = {dtype, std::move(shape), {memory, bytes}};
  states = std::vector<std::atomic<uint8_t>>(static_cast<size_t>((elements + chunk - 1) / chunk));
}

LazyTensor::~LazyTensor() {
  munmap(memory, std::max<size_t>(stored.bytes.size(), 1));
}

void LazyTensor::computeChunk(int64_t number) const {
  const int64_t first = number * chunk, count = std::min(chunk, elements - first);
  std::vector<float> values(static_cast<size_t>(count));
  compute(first, count, values.data());
  const StoredType &type = *findStoredType(stored.dtype);
  if (!storeValues(DType::F32, reinterpret_cast<const std::byte *>(values.data()), count, type,
                   memory + first * type.bytes))
    throw UserError(
        fmt::format("a weight quantized by {} is beyond the range of {}", name, stored.dtype));
}

void LazyTensor::require(int64_t first, int64_t count) const {
  for (int64_t number = first / chunk; number * chunk < first + count; ++number) {
    std::atomic<uint8_t> &state = states[static_cast<size_t>(number)];
    uint8_t expected = Absent;
    if (state.load(std::memory_order_acquire) == Present)
      continue;
    if (state.compare_exchange_strong(expected, Computing)) {
      try {
        computeChunk(number);
      } catch (...) {
        state.store(Absent, std::memory_order_release);
        throw;
      }
      state.store(Present, std::memory_order_release);
    } else {
      while (state.load(std::memory_order_acquire) == Computing)
        std::this_thread::yield();
      --number; // present now, or absent after an error in another thread
    }
  }
}

void LazyTensor::release() const {
  for (std::atomic<uint8_t> &state : states)
    state.store(Absent, std::memory_order_relaxed);
  madvise(memory, stored.bytes.size(), MADV_DONTNEED);
}

} // namespace titan::rt
