//===- TensorAttributes.h - Options of single tensors -----------*- C++ -*-===//
//
// Attributes for options that a user sets on some tensors only. Few files need them, so they are
// separate from `Titan.h`.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_IR_TENSORATTRIBUTES_H
#define TITAN_DIALECTS_TITAN_IR_TENSORATTRIBUTES_H

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

namespace attr {
/// On trained parameters of @train, until the gradient phase: the optimizer that updates it.
inline constexpr llvm::StringLiteral kUpdatedBy = "titan.updated_by";
/// On sharding constraints: the name by which overrides refer to the value. The cotangent has the
/// same name.
inline constexpr llvm::StringLiteral kName = "titan.name";
} // namespace attr

/// The name of the constraint; empty if it has none or is null.
inline llvm::StringRef getName(ShardingConstraintOp constraint) {
  auto name =
      constraint ? constraint->getAttrOfType<mlir::StringAttr>(attr::kName) : mlir::StringAttr();
  return name ? name.getValue() : llvm::StringRef();
}

/// A sharding constraint with this name; without the attribute if the name is empty.
inline ShardingConstraintOp createConstraint(mlir::OpBuilder &builder, mlir::Location loc,
                                             mlir::Type type, mlir::Value value,
                                             llvm::StringRef name) {
  auto constraint = builder.create<ShardingConstraintOp>(loc, type, value);
  if (!name.empty())
    constraint->setAttr(attr::kName, builder.getStringAttr(name));
  return constraint;
}

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_TENSORATTRIBUTES_H
