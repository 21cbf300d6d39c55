// Names of sharding constraints.
//
// A sharding constraint may have a name (`titan.name`), by which overrides of the axis rules
// (`dist.overrides`) refer to its value.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

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
