// The table of a module's persistent allocations.

#include "dialects/titan/Transforms/Memory/Planner.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::memory;

FailureOr<int64_t> PersistentTable::get(const PersistentKey &key, NamedTensorType type,
                                        Operation *user) {
  StringAttr name = key.name;
  auto [entry, isNew] = indices.try_emplace(key, allocations.size());
  auto memory = llvm::is_contained(offloadedRoles, key.role.getValue())
                    ? StringAttr::get(name.getContext(), kHostMemory)
                    : StringAttr();
  if (isNew)
    allocations.push_back(AllocationAttr::get(name.getContext(), name, type, 0, 0, nullptr, nullptr,
                                              storage.getBucket(key), memory));
  else if (allocations[entry->second].getType() != type)
    return user->emitError("'") << name.getValue() << "' is " << type << " here and "
                                << allocations[entry->second].getType() << " in another function";
  return entry->second;
}

ArrayAttr PersistentTable::toAttribute(MLIRContext *context) const {
  return ArrayAttr::get(context, SmallVector<Attribute>(allocations.begin(), allocations.end()));
}
