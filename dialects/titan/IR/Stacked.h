//===- Stacked.h - Tensors that hold what iterations own --------*- C++ -*-===//
//
// A parameter of a repeat's body is one tensor with a slot for each iteration that has it; of a
// repeat in a repeat, with two such dimensions in front. The attribute `titan.stacked` says which
// iterations the slots belong to: a unit attribute that slot l is iteration l, a list for each
// leading dimension otherwise. What is exchanged and initialised is the slot, by its own name.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_IR_STACKED_H
#define TITAN_DIALECTS_TITAN_IR_STACKED_H

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// For each leading dimension of a stacked tensor, the iterations that its slots belong to.
using StackedIterations = llvm::SmallVector<llvm::SmallVector<int64_t>>;

mlir::Attribute getStackedAttr(mlir::Builder &builder,
                               llvm::ArrayRef<std::vector<int64_t>> iterations);

/// `stacked`: the attribute; null, and then the result is empty, where the tensor is not stacked.
StackedIterations getStackedIterations(mlir::Attribute stacked, NamedTensorType type);

/// The names of the slots in row-major order: `layers.1.wq`, `layers.3.wq` of `layers.wq`. The
/// first `prefixParts` parts of the name ("m" of a state's "m.layers.wq") stay in front.
llvm::SmallVector<std::string>
getSlotNames(llvm::StringRef name, const StackedIterations &iterations, unsigned prefixParts = 0);

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_STACKED_H
