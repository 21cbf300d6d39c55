//===- Padding.h - Tensors with and without padding -------------*- C++ -*-===//
//
// Arguments and results that the shard phase made longer (`titan.unpadded`) start, and are
// compared, as they would be without; their padding must hold zeros.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_PADDING_H
#define TITAN_COMPILER_INTERPRETER_PADDING_H

#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::interpreter {

/// `type` with the sizes that `unpadded`, an argument's or result's `titan.unpadded`, says; itself
/// where that is null.
ir::NamedTensorType getUnpadded(ir::NamedTensorType type, mlir::Attribute unpadded);

/// `tensor` in a tensor of the sizes `shape`, at the start of every dimension; the rest is 0.
ir::HostTensor addPadding(const ir::HostTensor &tensor, llvm::ArrayRef<int64_t> shape);

/// The reverse. Fails, with a diagnostic, where anything but 0 would be lost.
mlir::FailureOr<ir::HostTensor>
removePadding(const ir::HostTensor &tensor, llvm::ArrayRef<int64_t> shape,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_PADDING_H
