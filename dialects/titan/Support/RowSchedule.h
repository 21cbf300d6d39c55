//===- RowSchedule.h - Which operations of a row share a loop ---*- C++ -*-===//
//
// A row's operations run in a sequence of inner loops. An operation joins the first loop over its
// dimensions that comes after everything it needs whole (what another loop reduces, or computes
// over other dimensions), and shares a loop with what it needs element by element; but what only
// later loops read waits for the first of them, so that no row is kept for it. Emission writes
// these loops; the memory phase asks which of them read and write a buffer.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_TRANSFORMS_FUSION_ROWSCHEDULE_H
#define TITAN_DIALECTS_TITAN_TRANSFORMS_FUSION_ROWSCHEDULE_H

#include "dialects/titan/IR/Titan.h"

namespace titan::fusion {

/// Names of the dimensions below the row that an operation walks: those of what it reduces, else of
/// its result.
llvm::SmallVector<llvm::StringRef> getInnerDims(mlir::Operation *op,
                                                llvm::ArrayRef<std::string> rows);

/// The tensor whose elements an operation walks.
mlir::Value getIteratedTensor(mlir::Operation *op);

struct RowSchedule {
  struct Inner {
    llvm::SmallVector<llvm::StringRef> dims;
    llvm::SmallVector<mlir::Operation *> ops;
  };
  llvm::SmallVector<Inner, 4> inners;
  llvm::DenseMap<mlir::Operation *, unsigned> innerOf;
};

/// `ops` in program order, without those that every loop computes for itself (constants, iotas).
RowSchedule scheduleRows(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<std::string> rows);

/// The rows and the operations of a fused region, in the form that the above takes.
llvm::SmallVector<std::string> getRows(ir::FusedOp op);
llvm::SmallVector<mlir::Operation *> getScheduledOps(ir::FusedOp op);

} // namespace titan::fusion

#endif // TITAN_DIALECTS_TITAN_TRANSFORMS_FUSION_ROWSCHEDULE_H
