// Finds the axis rules of one tensor.

#include "dialects/dist/Transforms/Shard/TensorAxisRules.h"

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

TensorAxisRules::TensorAxisRules(const MeshView &mesh) : mesh(mesh) {
  for (size_t axis = 0; axis < mesh.getNumAxes(); ++axis) {
    AxisRulesOp axisRules = mesh.getRules(axis);
    auto entries = axisRules ? axisRules->getAttrOfType<ArrayAttr>(kOverridesAttr) : ArrayAttr();
    for (Attribute entry : entries ? entries.getValue() : ArrayRef<Attribute>()) {
      auto fields = cast<DictionaryAttr>(entry);
      for (StringRef name : fields.getAs<ArrayAttr>("names").getAsValueRange<StringAttr>())
        overrides[getKey(fields.getAs<StringAttr>("of"), name)].push_back({axis, fields});
    }
  }
}

ArrayAttr TensorAxisRules::find(size_t axis, TensorName tensor, StringRef field) const {
  auto it =
      tensor.name.empty() ? overrides.end() : overrides.find(getKey(tensor.kind, tensor.name));
  if (it != overrides.end())
    for (const auto &[ofAxis, fields] : llvm::reverse(it->second))
      if (auto said = fields.getAs<ArrayAttr>(field); said && ofAxis == axis)
        return said;
  return {};
}

std::vector<std::string> TensorAxisRules::getPreference(size_t axis, TensorName tensor) const {
  if (ArrayAttr own = find(axis, tensor, "shards"))
    return getStrings(own);
  return mesh.getAxes()[axis].preference;
}

bool TensorAxisRules::stores(size_t axis, StringRef state, TensorName tensor) const {
  if (ArrayAttr own = find(axis, tensor, "stores"))
    return contains(own, state);
  AxisRulesOp axisRules = mesh.getRules(axis);
  return axisRules && contains(axisRules.getStores(), state);
}
