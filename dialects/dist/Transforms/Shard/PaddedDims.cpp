// Pads the dimensions that axis rules list under `pads`, so that the degrees divide them.

#include "dialects/dist/Transforms/Shard/PaddedDims.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::DimAttr;
using ir::NamedTensorType;

PaddedDims::PaddedDims(const MeshView &mesh) {
  for (size_t a = 0; a < mesh.getNumAxes(); ++a)
    if (AxisRulesOp axisRules = mesh.getRules(a); axisRules && axisRules.getPads())
      for (StringRef name : axisRules.getPads()->getAsValueRange<StringAttr>())
        multiples[name] = 1;
  for (const AxisInfo &axis : mesh.getAxes())
    for (auto &entry : multiples)
      if (axis.degree > 0 && llvm::is_contained(axis.preference, entry.first()))
        entry.second *= axis.degree;
}

DimAttr PaddedDims::pad(DimAttr dim) const {
  auto found = multiples.find(dim.getName());
  if (found == multiples.end() && dim.getOrigin())
    found = multiples.find(dim.getOrigin());
  if (found == multiples.end() || dim.getSize() == 1) // size 1 is never sharded
    return dim;
  int64_t size = llvm::alignTo(dim.getSize(), found->second);
  return DimAttr::get(dim.getContext(), dim.getName(), size, dim.getOrigin());
}

NamedTensorType PaddedDims::pad(NamedTensorType type) const {
  auto dims = llvm::map_to_vector(type.getDims(), [&](DimAttr dim) { return pad(dim); });
  return NamedTensorType::get(type.getElementType(), dims, type.getSharding());
}

NamedTensorType dist::setDimLike(NamedTensorType type, int64_t d, NamedTensorType like) {
  SmallVector<DimAttr> dims(type.getDims());
  dims[d] = like.getDims()[d];
  return NamedTensorType::get(type.getElementType(), dims, type.getSharding());
}
