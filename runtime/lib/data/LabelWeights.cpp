#include "LabelWeights.h"

#include "files/StoredValues.h"

#include "base/Error.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace titan::rt {

LabelWeights::LabelWeights(const std::string &prefix, int64_t tokens) {
  const std::string path = weightsFile(prefix);
  if (!std::filesystem::exists(path))
    return;
  file = std::make_unique<MappedFile>(path, /*checksTruncation=*/true);
  const auto size = static_cast<int64_t>(file->bytes().size());
  if (size != tokens)
    throw UserError(
        fmt::format("'{}' has {} bytes, but '{}.bin' has {} tokens, each of which needs "
                    "one",
                    path, size, prefix, tokens));
}

void LabelWeights::check(int64_t first, int64_t count) const {
  const std::byte *from = file->bytes().data() + first;
  const std::byte *bad =
      std::find_if(from, from + count, [](std::byte weight) { return weight > std::byte{1}; });
  if (bad != from + count)
    throw UserError(fmt::format("'{}' holds {} at byte {}; a weight is 0 or 1", file->path(),
                                std::to_integer<int>(*bad), first + (bad - from)));
}

void LabelWeights::read(int64_t first, int64_t count, DType type, void *out) const {
  const StoredType &stored = *findStoredType("U8");
  if (!file) {
    constexpr std::byte one{1};
    auto *to = static_cast<std::byte *>(out);
    for (int64_t i = 0; i < count; ++i)
      convertStored(stored, &one, 1, type, to + i * getByteSize(type));
    return;
  }
  file->requireUntruncated();
  check(first, count);
  convertStored(stored, file->bytes().data() + first, count, type, out);
  file->release();
}

} // namespace titan::rt
