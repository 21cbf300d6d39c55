#include "compiler/sema/runs/ParameterMatrix.h"

#include <set>

namespace titan::sema {

namespace {

/// Visits the operations of a model that use one parameter.
class MatrixUse {
public:
  MatrixUse(const Model &model, uint32_t parameter) : model(model), parameter(parameter) {
    visit(model.body);
  }
  std::optional<MatrixDims> dims() const { return isMatrix ? found : std::nullopt; }

private:
  void visit(const Region &region) {
    for (const Op &op : region.ops) {
      if (op.kind == OpKind::Parameter && op.index == parameter)
        same.insert(op.results[0]);
      for (ValueId operand : op.operands)
        if (same.count(operand))
          use(op, operand);
      for (const Region &body : op.body)
        visit(body);
    }
  }

  /// All uses must be contractions that sum the same dimensions.
  void use(const Op &op, ValueId operand) {
    if (op.kind == OpKind::Cast || op.kind == OpKind::StopGradient) {
      same.insert(op.results[0]);
      return;
    }
    isMatrix &= op.kind == OpKind::Contract;
    if (!isMatrix)
      return;
    const DimSet &operandDims = getDims(operand), &result = getDims(op.results[0]);
    MatrixDims dims{operandDims.intersect(result), operandDims.without(result)};
    isMatrix = !dims.outputs.empty() && !dims.inputs.empty() && (!found || *found == dims);
    found = dims;
  }

  const DimSet &getDims(ValueId value) const { return model.values[value].type.dims; }

  const Model &model;
  uint32_t parameter;
  std::set<ValueId> same; ///< the parameter, perhaps in another element type
  std::optional<MatrixDims> found;
  bool isMatrix = true;
};

} // namespace

std::optional<MatrixDims> matrixDims(const Model &model, uint32_t parameter) {
  return MatrixUse(model, parameter).dims();
}

} // namespace titan::sema
