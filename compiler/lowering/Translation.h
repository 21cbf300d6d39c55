// Converts dimensions, types and source locations of the semantic analysis to those of the
// dialects.
#pragma once

#include "compiler/sema/program/Program.h"
#include "dialects/titan/IR/Titan.h"

namespace titan::lowering {

class Translation {
public:
  Translation(const sema::Model &model, const SourceManager &sources, mlir::MLIRContext *context)
      : model(model), sources(sources), context(context) {}

  ir::DimAttr dim(sema::DimId id) const;
  mlir::StringAttr dimName(sema::DimId id) const;
  mlir::Type elementType(sema::DType dtype) const;
  ir::NamedTensorType type(const sema::TensorType &type) const;
  /// The type with the dimensions of the enclosing repeats in front.
  ir::NamedTensorType type(const sema::Parameter &parameter) const;
  /// The source location as a NameLoc with the variable's name.
  mlir::Location loc(Location at, llvm::StringRef name) const;
  ir::InitAttr init(const sema::Parameter &parameter) const;

private:
  const sema::Model &model;
  const SourceManager &sources;
  mlir::MLIRContext *context;
};

} // namespace titan::lowering
