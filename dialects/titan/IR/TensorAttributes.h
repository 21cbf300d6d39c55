//===- TensorAttributes.h - What is said of single tensors ------*- C++ -*-===//
//
// Attributes beside those of `Titan.h`, of which few files know: what the user says of some tensors
// alone.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_IR_TENSORATTRIBUTES_H
#define TITAN_DIALECTS_TITAN_IR_TENSORATTRIBUTES_H

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

namespace attr {
/// On trained parameters of @train, until the gradient phase: the optimizer that updates it.
inline constexpr llvm::StringLiteral kUpdatedBy = "titan.updated_by";
/// On sharding constraints: what the user's map may call the value by. Its cotangent has the same
/// name.
inline constexpr llvm::StringLiteral kName = "titan.name";
} // namespace attr

/// The constraint's name; empty where it has none, or where there is no sharding constraint.
inline llvm::StringRef getName(ShardingConstraintOp constraint) {
  auto name =
      constraint ? constraint->getAttrOfType<mlir::StringAttr>(attr::kName) : mlir::StringAttr();
  return name ? name.getValue() : llvm::StringRef();
}

/// A sharding constraint of this name; without the attribute where that is empty.
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
