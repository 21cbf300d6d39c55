// Which operations of a row share a loop.
//
// The operations of a fused region are evaluated row by row, in a sequence of inner loops per row.
// An operation joins the first loop over its dimensions that follows the loops that it depends on
// as a whole: reductions, and loops over other dimensions. It may share a loop with operations that
// it reads element by element. An operation that only later loops read is delayed to the first of
// them, so that it needs no row buffer. Emission writes these loops; the memory phase asks which
// loops read and write an allocation.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::fusion {

/// The dimensions that an operation iterates over within a row: those of the operand of a
/// reduction, else those of the result, without the dimensions `rows`.
llvm::SmallVector<llvm::StringRef> getInnerDims(mlir::Operation *op,
                                                llvm::ArrayRef<std::string> rows);

/// The tensor whose elements an operation iterates over.
mlir::Value getIteratedTensor(mlir::Operation *op);

/// The inner loops of a row, in the order of execution.
struct RowSchedule {
  /// One inner loop: the dimensions that it iterates over, and its operations in program order.
  struct Inner {
    llvm::SmallVector<llvm::StringRef> dims;
    llvm::SmallVector<mlir::Operation *> ops;
  };
  llvm::SmallVector<Inner, 4> inners;
  llvm::DenseMap<mlir::Operation *, unsigned> innerOf; ///< the index of an operation's loop
};

/// Assigns operations to inner loops. `ops`: in program order, without constants and iotas, which
/// every loop evaluates itself. `rows`: the names of the dimensions of the rows.
RowSchedule scheduleRows(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<std::string> rows);

/// The names of the dimensions of the rows, and the operations to schedule, of a fused region.
llvm::SmallVector<std::string> getRows(ir::FusedOp op);
llvm::SmallVector<mlir::Operation *> getScheduledOps(ir::FusedOp op);

} // namespace titan::fusion
