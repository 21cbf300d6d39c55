// Verification of discardable attributes.
//
// The dialects `titan` and `dist` define their discardable attributes in one table: the name, where
// the attribute may be, and the kind of its value. An attribute of these dialects that is not in
// the table is an error, so that a misspelled name has no silent effect.
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Operation.h"

namespace titan::ir {

/// The things that may have an attribute; a bit mask.
enum Holder : unsigned {
  OnModule = 1,
  OnFunction = 2,
  OnArgument = 4, ///< of a function
  OnResult = 8,   ///< of a function
  OnRepeat = 16,
  OnReturn = 32,
  OnConstraint = 64,
  OnAxisRules = 128,
  OnScalarFunction = 256,
  OnOperation = 512, ///< any other operation, and also those above inside a function
};

/// Reports an attribute that the table lacks, or that `holder` must not have, or whose value is of
/// another kind.
mlir::LogicalResult verifyDiscardable(mlir::Operation *op, Holder holder,
                                      mlir::NamedAttribute attribute);

/// Reports a role of an argument that its function cannot have: an optimizer takes the scalars "lr"
/// and "step" alone.
mlir::LogicalResult verifyArgumentRole(mlir::Operation *op, unsigned argument,
                                       mlir::NamedAttribute attribute);

/// Reports a result that updates an argument that does not exist, or one that only the runtime
/// sets.
mlir::LogicalResult verifyResultRole(mlir::Operation *op, unsigned result,
                                     mlir::NamedAttribute attribute);

/// The holder that `op` is: not OnArgument or OnResult.
Holder getHolder(mlir::Operation *op);

} // namespace titan::ir
