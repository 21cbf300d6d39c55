//===- MeshView.cpp - The mesh and its map as the shard phase sees them ---===//

#include "dialects/dist/Transforms/Shard/MeshView.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;

static void append(std::vector<std::string> &list, ArrayAttr names) {
  for (auto name : names.getAsRange<StringAttr>())
    list.push_back(name.str());
}

FailureOr<MeshView> MeshView::get(ModuleOp module) {
  MeshView view;
  view.context = module.getContext();
  llvm::StringMap<MapOp> mapOf;
  for (MapOp map : module.getOps<MapOp>()) {
    auto [it, isNew] = mapOf.try_emplace(map.getAxis(), map);
    if (isNew)
      continue;
    InFlightDiagnostic error = map.emitOpError("axis ")
                               << map.getAxisAttr() << " has a map already";
    error.attachNote(it->second.getLoc()) << "the other map is here";
    return error;
  }
  MeshOp mesh = MeshOp::lookup(module);
  if (!mesh)
    return view;
  for (auto axis : mesh.getAxes().getAsRange<MeshAxisAttr>()) {
    if (axis.getDegree() == 1)
      continue;
    AxisInfo info{axis.getName().str(), axis.getDegree(), {}};
    MapOp map = mapOf.lookup(info.name);
    if (map) {
      append(info.preference, map.getSplits());
      append(info.preference, map.getOtherwise());
    }
    view.axes.push_back(std::move(info));
    view.maps.push_back(map);
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

Places MeshView::getPlaces(ShardingAttr sharding) const {
  Places places = getNoPlaces();
  for (auto [d, names] : llvm::enumerate(sharding.getDimAxes()))
    for (int i : getIndices(names))
      places.axes[i] = static_cast<int>(d);
  for (int i : getIndices(sharding.getFlatAxes()))
    places.axes[i] = kFlat;
  for (int i : getIndices(sharding.getPartialAxes()))
    places.axes[i] = kPartial;
  places.flatFrom = static_cast<int>(sharding.getFlatFrom());
  places.kind = sharding.getPartialKind();
  return places;
}

ShardingAttr MeshView::getSharding(int64_t rank, const Places &places) const {
  Layout layout{std::vector<std::vector<int>>(rank), {}, 0, {}};
  for (auto [i, place] : llvm::enumerate(places.axes)) {
    int axis = static_cast<int>(i);
    if (place >= 0)
      layout.dims[place].push_back(axis);
    if (place == kFlat)
      layout.flat.push_back(axis);
    if (place == kPartial)
      layout.partial.push_back(axis);
  }
  if (!layout.flat.empty())
    layout.flatFrom = places.flatFrom;
  return getSharding(layout, places.kind);
}

Layout MeshView::getLayout(ShardingAttr sharding) const {
  Layout layout;
  for (ArrayAttr names : sharding.getDimAxes())
    layout.dims.push_back(getIndices(names));
  layout.flat = getIndices(sharding.getFlatAxes());
  layout.flatFrom = static_cast<int>(sharding.getFlatFrom());
  layout.partial = getIndices(sharding.getPartialAxes());
  return layout;
}

ShardingAttr MeshView::getSharding(const Layout &layout, ReductionKind kind) const {
  auto dims = llvm::map_to_vector(layout.dims,
                                  [&](const std::vector<int> &list) { return getNames(list); });
  bool isFlat = !layout.flat.empty(), isPartial = !layout.partial.empty();
  return ShardingAttr::get(context, dims, getNames(layout.flat), isFlat ? layout.flatFrom : 0,
                           getNames(layout.partial), isPartial ? kind : ReductionKind::Sum);
}

ArrayAttr MeshView::getNames(ArrayRef<int> list) const {
  auto names = llvm::map_to_vector(list, [&](int i) { return StringRef(axes[i].name); });
  return Builder(context).getStrArrayAttr(names);
}

bool MeshView::isFlatEven(ir::NamedTensorType type) const {
  Layout layout = getLayout(type.getShardingOrReplicated());
  if (layout.flat.size() < 2)
    return true;
  int64_t elements = 1, parts = 1;
  for (ir::DimAttr dim : type.getDims().drop_front(layout.flatFrom))
    elements *= dim.getSize();
  for (const std::vector<int> &list : ArrayRef(layout.dims).drop_front(layout.flatFrom))
    for (int axis : list)
      parts *= axes[axis].degree;
  for (int axis : layout.flat)
    parts *= axes[axis].degree;
  return parts > 0 && elements % parts == 0; // 0: the degree of some axis is not known yet
}

ShardingAttr dist::getShardingOf(Value value) {
  return cast<ir::NamedTensorType>(value.getType()).getShardingOrReplicated();
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
