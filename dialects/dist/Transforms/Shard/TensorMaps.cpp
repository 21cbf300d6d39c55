//===- TensorMaps.cpp - What the user's map says of one tensor ------------===//

#include "dialects/dist/Transforms/Shard/TensorMaps.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;

static std::string getKey(StringRef kind, StringRef name) {
  return (kind + " " + name).str();
}

static std::vector<std::string> getStrings(ArrayAttr names) {
  std::vector<std::string> strings;
  for (auto name : names.getAsRange<StringAttr>())
    strings.push_back(name.str());
  return strings;
}

static bool contains(ArrayAttr names, StringRef wanted) {
  return llvm::is_contained(names.getAsValueRange<StringAttr>(), wanted);
}

TensorMaps::TensorMaps(const MeshView &mesh) : mesh(mesh) {
  for (size_t axis = 0; axis < mesh.getNumAxes(); ++axis) {
    MapOp map = mesh.getMap(axis);
    auto entries = map ? map->getAttrOfType<ArrayAttr>("dist.overrides") : ArrayAttr();
    for (Attribute entry : entries ? entries.getValue() : ArrayRef<Attribute>()) {
      auto parts = cast<DictionaryAttr>(entry);
      for (StringRef name : parts.getAs<ArrayAttr>("names").getAsValueRange<StringAttr>())
        overrides[getKey(parts.getAs<StringAttr>("of"), name)].push_back({axis, parts});
    }
  }
}

ArrayAttr TensorMaps::find(size_t axis, TensorName tensor, StringRef part) const {
  auto it =
      tensor.name.empty() ? overrides.end() : overrides.find(getKey(tensor.kind, tensor.name));
  if (it != overrides.end())
    for (const auto &[ofAxis, parts] : llvm::reverse(it->second))
      if (auto said = parts.getAs<ArrayAttr>(part); said && ofAxis == axis)
        return said;
  return {};
}

std::vector<std::string> TensorMaps::getPreference(size_t axis, TensorName tensor) const {
  if (ArrayAttr own = find(axis, tensor, "splits"))
    return getStrings(own);
  return mesh.getAxes()[axis].preference;
}

bool TensorMaps::stores(size_t axis, StringRef state, TensorName tensor) const {
  if (ArrayAttr own = find(axis, tensor, "stores"))
    return contains(own, state);
  MapOp map = mesh.getMap(axis);
  return map && contains(map.getStores(), state);
}
