// Which operations of a row share a loop.
//
// The operations of a row run in a sequence of inner loops. An operation joins the first loop over
// its dimensions that follows the loops that it depends on as a whole: reductions, and loops over
// other dimensions. It may share a loop with operations that it reads element by element. An
// operation that only later loops read is delayed to the first of them, so that it needs no row
// buffer. Emission writes these loops; the memory phase asks which loops read and write an
// allocation.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::fusion {

/// The dimensions below the row that an operation iterates over: those of the operand of a
/// reduction, else those of the result.
llvm::SmallVector<llvm::StringRef> getInnerDims(mlir::Operation *op,
                                                llvm::ArrayRef<std::string> rows);

/// The tensor whose elements an operation iterates over.
mlir::Value getIteratedTensor(mlir::Operation *op);

struct RowSchedule {
  struct Inner {
    llvm::SmallVector<llvm::StringRef> dims;
    llvm::SmallVector<mlir::Operation *> ops;
  };
  llvm::SmallVector<Inner, 4> inners;
  llvm::DenseMap<mlir::Operation *, unsigned> innerOf;
};

/// `ops`: in program order, without constants and iotas, which every loop evaluates itself.
RowSchedule scheduleRows(llvm::ArrayRef<mlir::Operation *> ops, llvm::ArrayRef<std::string> rows);

llvm::SmallVector<std::string> getRows(ir::FusedOp op);
llvm::SmallVector<mlir::Operation *> getScheduledOps(ir::FusedOp op);

} // namespace titan::fusion
