// The axis whose degree is fixed at launch.
#pragma once

#include "dialects/dist/IR/DistOps.h"

namespace titan::dist {

/// The axis of degree `auto`, or null. `mesh` may be null.
MeshAxisAttr findAutoAxis(MeshOp mesh);

/// Sets the degree of the axis of degree `auto`, if there is one.
void fixAutoDegree(MeshOp mesh, int64_t degree);

} // namespace titan::dist
