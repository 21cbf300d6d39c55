// Tensors with and without padding.
//
// The shard phase pads arguments and results (`titan.unpadded`). Their initial values and
// comparisons ignore the padding, which must remain zero.
#pragma once

#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::interpreter {

/// `type` with the sizes of `unpadded`, the `titan.unpadded` of an argument or result; `type`
/// itself if the attribute is null.
ir::NamedTensorType getUnpadded(ir::NamedTensorType type, mlir::Attribute unpadded);

/// `tensor` padded with zeros at the end of every dimension to the sizes `shape`.
ir::HostTensor addPadding(const ir::HostTensor &tensor, llvm::ArrayRef<int64_t> shape);

/// The inverse of addPadding(). Fails with a diagnostic if the padding is not zero.
mlir::FailureOr<ir::HostTensor>
removePadding(const ir::HostTensor &tensor, llvm::ArrayRef<int64_t> shape,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace titan::interpreter
