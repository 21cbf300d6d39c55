//===- RepeatEdit.h - A repeat that carries or stacks more ------*- C++ -*-===//
//
// What passes need that move values across iterations or from one repeat to another.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_DIST_TRANSFORMS_REPEATEDIT_H
#define TITAN_DIALECTS_DIST_TRANSFORMS_REPEATEDIT_H

#include "dialects/titan/IR/Titan.h"

namespace titan::dist {

struct RepeatAdditions {
  llvm::SmallVector<mlir::Value> inits;  ///< carried behind what is carried; yielded as they are
  llvm::SmallVector<mlir::Value> slices; ///< stacks, sliced behind the others
  llvm::SmallVector<mlir::Value> stacks; ///< values of the body, stacked behind the others
};

/// Replaces `repeat` by one that has the additions.
ir::RepeatOp extend(ir::RepeatOp repeat, const RepeatAdditions &additions);

} // namespace titan::dist

#endif // TITAN_DIALECTS_DIST_TRANSFORMS_REPEATEDIT_H
