// Mesh and axis rules as plain data.

#include "dialects/dist/Transforms/Shard/MeshView.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;

static void append(std::vector<std::string> &list, ArrayAttr names) {
  for (auto name : names.getAsRange<StringAttr>())
    list.push_back(name.str());
}

/// `auto` counts as the default `gather`; --dist-choose-attention replaces it.
static AttentionSplit getAttentionSplit(AttentionMethod method) {
  switch (method) {
  case AttentionMethod::Auto:
  case AttentionMethod::Gather:
    return AttentionSplit::Queries;
  case AttentionMethod::Ring:
    return AttentionSplit::QueriesAndKeys;
  case AttentionMethod::AllToAll:
    return AttentionSplit::Heads;
  }
  llvm_unreachable("every method is handled");
}

FailureOr<MeshView> MeshView::get(ModuleOp module) {
  MeshView view;
  view.context = module.getContext();
  llvm::StringMap<AxisRulesOp> rulesOf;
  for (AxisRulesOp axisRules : module.getOps<AxisRulesOp>()) {
    auto [it, isNew] = rulesOf.try_emplace(axisRules.getAxis(), axisRules);
    if (isNew)
      continue;
    InFlightDiagnostic error = axisRules.emitOpError("axis ")
                               << axisRules.getAxisAttr() << " has axis rules already";
    error.attachNote(it->second.getLoc()) << "the other rules are here";
    return error;
  }
  MeshOp mesh = MeshOp::lookup(module);
  if (!mesh)
    return view;
  for (auto axis : mesh.getAxes().getAsRange<MeshAxisAttr>()) {
    if (axis.getDegree() == 1)
      continue;
    AxisInfo info{axis.getName().str(), axis.getDegree(), {}};
    AxisRulesOp axisRules = rulesOf.lookup(info.name);
    if (axisRules) {
      append(info.preference, axisRules.getShards());
      append(info.preference, axisRules.getFallback());
      info.isHeadTail = axisRules.getHeadTail();
      info.attention = getAttentionSplit(axisRules.getAttention());
    }
    if (info.isHeadTail && llvm::any_of(view.axes, [](const AxisInfo &a) { return a.isHeadTail; }))
      return axisRules.emitOpError("a second axis has head-tail order");
    view.axes.push_back(std::move(info));
    view.rules.push_back(axisRules);
  }
  return view;
}

int MeshView::getIndex(Attribute name) const {
  for (auto [i, axis] : llvm::enumerate(axes))
    if (axis.name == cast<StringAttr>(name).getValue())
      return static_cast<int>(i);
  return -1;
}

std::vector<int> MeshView::getIndices(ArrayAttr names) const {
  std::vector<int> indices;
  for (Attribute name : names)
    if (int i = getIndex(name); i >= 0)
      indices.push_back(i);
  return indices;
}

ShardingByAxis MeshView::getByAxis(ShardingAttr sharding) const {
  ShardingByAxis byAxis = getReplicated();
  for (auto [d, names] : llvm::enumerate(sharding.getDimAxes()))
    for (int i : getIndices(names))
      byAxis.dimOfAxis[i] = static_cast<int>(d);
  for (int i : getIndices(sharding.getFlatAxes()))
    byAxis.dimOfAxis[i] = kFlat;
  for (int i : getIndices(sharding.getPartialAxes()))
    byAxis.dimOfAxis[i] = kPartial;
  byAxis.flatFrom = static_cast<int>(sharding.getFlatFrom());
  byAxis.kind = sharding.getPartialKind();
  return byAxis;
}

ShardingAttr MeshView::getSharding(int64_t rank, const ShardingByAxis &byAxis) const {
  ShardingByDim byDim{std::vector<std::vector<int>>(rank), {}, 0, {}};
  for (auto [i, dim] : llvm::enumerate(byAxis.dimOfAxis)) {
    int axis = static_cast<int>(i);
    if (dim >= 0 && !llvm::is_contained(byAxis.inner, axis))
      byDim.dims[dim].push_back(axis);
    if (dim >= 0 && axes[i].isHeadTail)
      byDim.headTail.push_back(axis);
    if (dim == kFlat)
      byDim.flat.push_back(axis);
    if (dim == kPartial)
      byDim.partial.push_back(axis);
  }
  for (int axis : byAxis.inner)
    if (int dim = byAxis.dimOfAxis[axis]; dim >= 0)
      byDim.dims[dim].push_back(axis);
  if (!byDim.flat.empty())
    byDim.flatFrom = byAxis.flatFrom;
  return getSharding(byDim, byAxis.kind);
}

ShardingByDim MeshView::getByDim(ShardingAttr sharding) const {
  ShardingByDim byDim;
  for (ArrayAttr names : sharding.getDimAxes())
    byDim.dims.push_back(getIndices(names));
  byDim.flat = getIndices(sharding.getFlatAxes());
  byDim.flatFrom = static_cast<int>(sharding.getFlatFrom());
  byDim.partial = getIndices(sharding.getPartialAxes());
  byDim.headTail = getIndices(sharding.getHeadTailAxes());
  llvm::sort(byDim.headTail);
  return byDim;
}

ShardingAttr MeshView::getSharding(const ShardingByDim &byDim, ReductionKind kind) const {
  auto dims =
      llvm::map_to_vector(byDim.dims, [&](const std::vector<int> &list) { return getNames(list); });
  bool isFlat = !byDim.flat.empty(), isPartial = !byDim.partial.empty();
  std::vector<int> headTail; // in the order of the dimensions
  for (const std::vector<int> &list : byDim.dims)
    llvm::copy_if(list, std::back_inserter(headTail),
                  [&](int axis) { return llvm::is_contained(byDim.headTail, axis); });
  return ShardingAttr::get(context, dims, getNames(byDim.flat), isFlat ? byDim.flatFrom : 0,
                           getNames(byDim.partial), isPartial ? kind : ReductionKind::Sum,
                           getNames(headTail));
}

ArrayAttr MeshView::getNames(ArrayRef<int> list) const {
  auto names = llvm::map_to_vector(list, [&](int i) { return StringRef(axes[i].name); });
  return Builder(context).getStrArrayAttr(names);
}

bool MeshView::isFlatEven(ir::NamedTensorType type) const {
  ShardingByDim byDim = getByDim(type.getShardingOrReplicated());
  if (byDim.flat.size() < 2)
    return true;
  int64_t elements = 1, degree = 1;
  for (ir::DimAttr dim : type.getDims().drop_front(byDim.flatFrom))
    elements *= dim.getSize();
  for (const std::vector<int> &list : ArrayRef(byDim.dims).drop_front(byDim.flatFrom))
    for (int axis : list)
      degree *= axes[axis].degree;
  for (int axis : byDim.flat)
    degree *= axes[axis].degree;
  return degree > 0 && elements % degree == 0; // 0: the degree of some axis is unknown
}

ShardingAttr dist::getSharding(Value value) {
  return cast<ir::NamedTensorType>(value.getType()).getShardingOrReplicated();
}

LogicalResult
dist::visitWithMesh(func::FuncOp function,
                    function_ref<LogicalResult(func::FuncOp, const MeshView &)> visit) {
  if (function.isExternal())
    return success();
  FailureOr<MeshView> mesh = MeshView::get(function->getParentOfType<ModuleOp>());
  return failed(mesh) ? failure() : visit(function, *mesh);
}

LogicalResult
dist::forEachFunction(ModuleOp module,
                      function_ref<LogicalResult(func::FuncOp, const MeshView &)> visit) {
  FailureOr<MeshView> mesh = MeshView::get(module);
  if (failed(mesh))
    return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && failed(visit(function, *mesh)))
      return failure();
  return success();
}
