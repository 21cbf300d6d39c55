#include "compiler/lowering/Translation.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace titan::lowering {

StringAttr Translation::dimName(sema::DimId id) const {
  return StringAttr::get(context, model.dims.uniqueName(id));
}

ir::DimAttr Translation::dim(sema::DimId id) const {
  const sema::Dim &dim = model.dims[id];
  StringAttr origin = dim.origin == id ? StringAttr() : dimName(dim.origin);
  return ir::DimAttr::get(context, dimName(id), dim.size, origin);
}

Type Translation::elementType(sema::DType dtype) const {
  Builder builder(context);
  switch (dtype) {
  case sema::DType::F32:
    return builder.getF32Type();
  case sema::DType::F64:
    return builder.getF64Type();
  case sema::DType::BF16:
    return builder.getBF16Type();
  case sema::DType::I64:
    return builder.getI64Type();
  case sema::DType::Bool:
    break;
  }
  return builder.getI1Type();
}

ir::NamedTensorType Translation::type(const sema::TensorType &type) const {
  SmallVector<ir::DimAttr> dims;
  for (sema::DimId id : type.dims)
    dims.push_back(dim(id));
  return ir::NamedTensorType::get(elementType(type.dtype), dims);
}

ir::NamedTensorType Translation::type(const sema::Parameter &parameter) const {
  SmallVector<ir::DimAttr> dims;
  for (auto [id, iterations] : llvm::zip_equal(parameter.repeats, parameter.iterations))
    dims.push_back(ir::RepeatOp::getStackDim(dim(id), iterations.size()));
  for (sema::DimId id : parameter.type.dims)
    dims.push_back(dim(id));
  return ir::NamedTensorType::get(elementType(parameter.type.dtype), dims);
}

mlir::Location Translation::loc(titan::Location at, StringRef name) const {
  mlir::Location location = UnknownLoc::get(context);
  if (at.isValid())
    location =
        FileLineColLoc::get(StringAttr::get(context, sources.name(at.file)), at.line, at.col);
  return name.empty() ? location : NameLoc::get(StringAttr::get(context, name), location);
}

ir::InitAttr Translation::init(const sema::Parameter &parameter) const {
  using Kind = sema::Initialiser::Kind;
  const sema::Initialiser &first = parameter.initialisers.front();
  ir::InitKind kind = first.kind == Kind::Constant          ? ir::InitKind::Constant
                      : first.kind == Kind::Normal          ? ir::InitKind::Normal
                      : first.kind == Kind::TruncatedNormal ? ir::InitKind::TruncatedNormal
                                                            : ir::InitKind::Uniform;
  SmallVector<double> scales;
  for (const sema::Initialiser &each : parameter.initialisers)
    scales.push_back(each.scale);
  return ir::InitAttr::get(context, kind, DenseF64ArrayAttr::get(context, scales),
                           Builder(context).getF64FloatAttr(first.cut));
}

} // namespace titan::lowering
