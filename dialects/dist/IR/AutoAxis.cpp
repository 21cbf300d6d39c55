// The axis whose degree is fixed at launch.

#include "dialects/dist/IR/AutoAxis.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;

MeshAxisAttr dist::findAutoAxis(MeshOp mesh) {
  if (mesh)
    for (auto axis : mesh.getAxes().getAsRange<MeshAxisAttr>())
      if (axis.isAuto())
        return axis;
  return {};
}

void dist::fixAutoDegree(MeshOp mesh, int64_t degree) {
  if (!findAutoAxis(mesh))
    return;
  SmallVector<Attribute> axes;
  for (auto axis : mesh.getAxes().getAsRange<MeshAxisAttr>())
    axes.push_back(axis.isAuto() ? MeshAxisAttr::get(mesh.getContext(), axis.getName(), degree)
                                 : axis);
  mesh.setAxesAttr(ArrayAttr::get(mesh.getContext(), axes));
}
