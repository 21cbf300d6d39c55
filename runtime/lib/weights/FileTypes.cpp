#include "FileTypes.h"

#include "base/Error.h"
#include "files/StoredValues.h"

#include <fmt/format.h>

namespace titan::rt {

std::string FileTypes::find(const std::string &tensor, DType own) const {
  if (own == DType::I64 || own == DType::Bool)
    return getStoredName(own);
  if (const auto found = known.find(tensor); found != known.end())
    return found->second;
  return others.empty() ? getStoredName(own) : others;
}

std::span<const std::byte> toStored(const TensorSpec &tensor, std::span<const std::byte> values,
                                    std::vector<std::byte> &buffer) {
  if (tensor.stored.empty() || tensor.stored == getStoredName(tensor.type))
    return values;
  const StoredType &stored = *findStoredType(tensor.stored);
  const int64_t count = std::ssize(values) / getByteSize(tensor.type);
  buffer.resize(static_cast<size_t>(count * stored.bytes));
  if (!storeValues(tensor.type, values.data(), count, stored, buffer.data()))
    throw UserError(fmt::format("the tensor '{}' has numbers beyond the range of {}: export wider "
                                "numbers, such as --dtype f32",
                                tensor.name, stored.name));
  return buffer;
}

} // namespace titan::rt
