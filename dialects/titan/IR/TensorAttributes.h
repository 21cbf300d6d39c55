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
/// On parameters: the decay rates of their moments, two f64, instead of the optimizer's.
inline constexpr llvm::StringLiteral kBetas = "titan.betas";
/// On anchors: what the user's map may call the value by. Its cotangent has the same name.
inline constexpr llvm::StringLiteral kName = "titan.name";
} // namespace attr

/// The anchor's name; empty where it has none, or where there is no anchor.
inline llvm::StringRef getName(AnchorOp anchor) {
  auto name = anchor ? anchor->getAttrOfType<mlir::StringAttr>(attr::kName) : mlir::StringAttr();
  return name ? name.getValue() : llvm::StringRef();
}

/// An anchor of this name; without the attribute where that is empty.
inline AnchorOp createAnchor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                             mlir::Value value, llvm::StringRef name) {
  auto anchor = builder.create<AnchorOp>(loc, type, value);
  if (!name.empty())
    anchor->setAttr(attr::kName, builder.getStringAttr(name));
  return anchor;
}

} // namespace titan::ir

#endif // TITAN_DIALECTS_TITAN_IR_TENSORATTRIBUTES_H
