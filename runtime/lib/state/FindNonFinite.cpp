// Scans the parameters for infinite elements and for those that are not numbers.
#include "FindNonFinite.h"

#include "FileTensors.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace titan::rt {

namespace {

/// Whether all bits of an exponent are set in one of the words. Blocks keep the loop free of
/// branches.
template <class Word> bool hasFullExponent(std::span<const std::byte> bytes, Word exponent) {
  constexpr size_t block = 4096;
  const size_t count = bytes.size() / sizeof(Word);
  for (size_t first = 0; first < count; first += block) {
    bool found = false;
    for (size_t i = first; i < std::min(first + block, count); ++i) {
      Word word;
      std::memcpy(&word, bytes.data() + i * sizeof(Word), sizeof(Word));
      found |= (word & exponent) == exponent;
    }
    if (found)
      return true;
  }
  return false;
}

bool holdsNonFinite(Executor &executor, const FileTensor &stored) {
  if (!stored.data)
    return false;
  const DType type = stored.info.dtype;
  const int64_t size = getByteSize(type);
  HostView host(executor.device(), stored.data, stored.bytes, HostView::Access::Read);
  bool found = false;
  executor.getLayout(stored.info).forEachRun([&](const ShardRun &run) {
    found =
        found ||
        hasNonFinite({host.data() + run.local * size, static_cast<size_t>(run.count * size)}, type);
  });
  return found;
}

} // namespace

bool hasNonFinite(std::span<const std::byte> elements, DType type) {
  switch (type) {
  case DType::F64:
    return hasFullExponent<uint64_t>(elements, 0x7ff0000000000000);
  case DType::F32:
    return hasFullExponent<uint32_t>(elements, 0x7f800000);
  case DType::BF16:
    return hasFullExponent<uint16_t>(elements, 0x7f80);
  case DType::I64:
  case DType::Bool:
    return false;
  }
  return false;
}

std::string findNonFinite(Executor &executor) {
  constexpr Role parameters[] = {Role::Parameter};
  const std::vector<FileTensor> all = listFileTensors(executor, parameters);
  const auto found = std::find_if(all.begin(), all.end(), [&](const FileTensor &stored) {
    return holdsNonFinite(executor, stored);
  });
  // The first one of any rank is the one with the most tensors from it on.
  const int rest = executor.maxOverRanks(static_cast<int>(all.end() - found));
  return rest == 0 ? "" : all[all.size() - static_cast<size_t>(rest)].name;
}

} // namespace titan::rt
