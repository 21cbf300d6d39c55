//===- AutoAxis.h - The axis whose degree is fixed at launch ----*- C++ -*-===//

#ifndef TITAN_DIALECTS_DIST_IR_AUTOAXIS_H
#define TITAN_DIALECTS_DIST_IR_AUTOAXIS_H

#include "dialects/dist/IR/DistOps.h"

namespace titan::dist {

/// The axis of degree `auto`, or null. `mesh` may be null.
MeshAxisAttr findAutoAxis(MeshOp mesh);

/// Sets the degree of the axis of degree `auto`, if there is one.
void fixAutoDegree(MeshOp mesh, int64_t degree);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_IR_AUTOAXIS_H
