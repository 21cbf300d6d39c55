// Sizes of local tensors as named constants.

#include "compiler/emission/LocalSizes.h"

#include "base/arena/ArenaConflicts.h"
#include "compiler/emission/FunctionEmitter.h"

using namespace mlir;
using namespace titan;
using namespace titan::emission;

int64_t LocalSizes::getAxis(StringAttr name) {
  if (mesh)
    for (auto [i, axis] : llvm::enumerate(mesh.getAxes().getAsRange<dist::MeshAxisAttr>()))
      if (axis.getName() == name)
        return i;
  return -1;
}

std::string LocalSizes::getConstant(dist::MeshOp mesh, StringAttr axis) {
  NameScope scope;
  if (mesh)
    for (auto each : mesh.getAxes().getAsRange<dist::MeshAxisAttr>())
      if (std::string name = scope.pick(each.getName()); each.getName() == axis)
        return name;
  return scope.pick(axis);
}

std::string LocalSizes::getAxisName(dist::MeshOp mesh, StringAttr axis) {
  return "mesh::" + getConstant(mesh, axis);
}

bool LocalSizes::isAuto(ArrayAttr axes) {
  return mesh && llvm::any_of(axes.getAsRange<StringAttr>(),
                              [&](StringAttr axis) { return mesh.getDegree(axis) == 0; });
}

SizeFactor LocalSizes::declare(StringRef wanted, StringRef definition, int64_t value) {
  auto [entry, isNew] = known.try_emplace(definition);
  SizeFactor &factor = entry->second;
  if (isNew) {
    factor = {scope.pick(wanted), value};
    if (value)
      constants.push_back("[[maybe_unused]] constexpr int64_t " + factor.name + " = " +
                          definition.str() + ";");
    else
      variables[entry->first()] = factor.name;
  }
  if (!factor.value && !llvm::is_contained(used, entry->first()))
    used.push_back(entry->first().str());
  return factor;
}

SizeFactor LocalSizes::getDegree(ArrayAttr axes) {
  int64_t value = 1;
  for (auto axis : axes.getAsRange<StringAttr>())
    value *= mesh ? mesh.getDegree(axis) : 1;
  if (value)
    return {std::to_string(value), value};
  std::string text;
  for (auto axis : axes.getAsRange<StringAttr>())
    text += (text.empty() ? "" : " * ") + std::string("ctx.degree[") + getAxisName(axis) + "]";
  return {axes.size() == 1 ? text : "(" + text + ")", 0};
}

std::string LocalSizes::getShardIndex(ArrayAttr axes) {
  std::string shardIndex;
  for (auto axis : axes.getAsRange<StringAttr>()) {
    std::string index = getAxisName(axis);
    if (!shardIndex.empty())
      shardIndex = "(" + shardIndex + ") * ctx.degree[" + index + "] + ";
    shardIndex += "ctx.coordinate[" + index + "]";
  }
  return shardIndex.empty() ? "0" : shardIndex;
}

SizeFactor LocalSizes::getSize(ir::DimAttr dim, ArrayAttr axes) {
  if (auto found = constantSizes.find({dim, axes}); found != constantSizes.end())
    return found->second;
  SizeFactor size = makeSize(dim, axes);
  if (size.value)
    constantSizes.insert({{dim, axes}, size});
  return size;
}

SizeFactor LocalSizes::makeSize(ir::DimAttr dim, ArrayAttr axes) {
  StringRef name = dim.getName().getValue();
  SizeFactor whole;
  // Two sizes of one name (a batch of another program) are two constants.
  std::string key = (name + "=" + Twine(dim.getSize())).str();
  auto [entry, isNew] = known.try_emplace(key);
  if (isNew) {
    entry->second = {scope.pick(name), dim.getSize()};
    constants.push_back("[[maybe_unused]] constexpr int64_t " + entry->second.name + " = " +
                        std::to_string(dim.getSize()) + ";");
  }
  whole = entry->second;
  SizeFactor degree = getDegree(axes);
  if (degree.value == 1)
    return whole;
  std::string wanted = whole.name;
  for (auto axis : axes.getAsRange<StringAttr>())
    wanted += "_" + axis.str();
  return declare(wanted, whole.name + " / " + degree.name,
                 degree.value ? whole.value / degree.value : 0);
}

std::string LocalSizes::getTable(StringRef wanted, ArrayRef<int64_t> numbers) {
  std::string list;
  for (int64_t number : numbers)
    list += (list.empty() ? "" : ", ") + std::to_string(number);
  auto [entry, isNew] = known.try_emplace("{" + list + "}");
  if (isNew) {
    entry->second = {scope.pick(wanted), 0};
    constants.push_back("[[maybe_unused]] constexpr int64_t " + entry->second.name + "[] = {" +
                        list + "};");
  }
  return entry->second.name;
}

SizeExpr LocalSizes::getCountBeforeFlat(ir::NamedTensorType type) {
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  SizeExpr count;
  for (auto [dim, axes] : llvm::zip_equal(type.getDims(), sharding.getDimAxes()))
    count = count * getSize(dim, axes);
  return count;
}

SmallVector<LocalDim> LocalSizes::getDims(ir::NamedTensorType type) {
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  SmallVector<LocalDim> dims;
  for (auto [dim, axes] : llvm::zip_equal(type.getDims(), sharding.getDimAxes()))
    dims.push_back({dim.getName().str(), getSize(dim, axes)});
  if (!sharding.isFlat())
    return dims;
  SizeExpr below;
  std::string wanted = "part";
  for (const LocalDim &dim : ArrayRef(dims).drop_front(sharding.getFlatFrom())) {
    below = below * dim.size;
    wanted += "_" + dim.key;
  }
  dims.truncate(sharding.getFlatFrom());
  SizeFactor degree = getDegree(sharding.getFlatAxes());
  std::optional<int64_t> value = below.getValue();
  int64_t chunk = value && degree.value ? (*value + degree.value - 1) / degree.value : 0;
  dims.push_back(
      {kFlat.str(), declare(wanted, "tm::chunk(" + below.str() + ", " + degree.name + ")", chunk)});
  return dims;
}

SizeFactor LocalSizes::getBucketSize(StringRef wanted, ArrayRef<ir::NamedTensorType> allocations) {
  std::string text;
  int64_t total = 0;
  bool isKnown = true;
  for (ir::NamedTensorType type : allocations) {
    SizeFactor shard = getDims(type).back().size;
    const auto bytes = static_cast<int64_t>(type.getElementType().getIntOrFloatBitWidth() / 8);
    text += (text.empty() ? "" : " + ") +
            ("tm::aligned<" + getElementType(type.getElementType()) + ">(" + shard.name + ")");
    total += arena::alignTo(shard.value * bytes, arena::kArenaAlignment) / bytes;
    isKnown &= shard.value != 0;
  }
  return declare((wanted + "_bucket").str(), text, isKnown ? total : 0);
}

SizeExpr LocalSizes::getCount(ir::NamedTensorType type) {
  SizeExpr count;
  for (const LocalDim &dim : getDims(type))
    count = count * dim.size;
  return count;
}

SmallVector<std::string> LocalSizes::takeVariables() {
  SmallVector<std::string> lines;
  // In order of creation, since one may use another.
  for (auto &[definition, name] : variables)
    if (llvm::is_contained(used, definition))
      lines.push_back("const int64_t " + name + " = " + definition.str() + ";");
  return lines;
}

void LocalSizes::reserveNames(NameScope &names) {
  for (auto &entry : known)
    names.reserve(entry.second.name);
}
