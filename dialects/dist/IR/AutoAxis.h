//===- AutoAxis.h - The axis whose degree the launch decides ----*- C++ -*-===//

#ifndef TITAN_DIALECTS_DIST_IR_AUTOAXIS_H
#define TITAN_DIALECTS_DIST_IR_AUTOAXIS_H

#include "dialects/dist/IR/DistOps.h"

namespace titan::dist {

/// The axis whose degree is `auto`, or null. `mesh` may be null.
MeshAxisAttr findAutoAxis(MeshOp mesh);

/// Makes `degree` that of the axis that is `auto`, if there is one.
void fixAutoDegree(MeshOp mesh, int64_t degree);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_IR_AUTOAXIS_H
