//===- ElementwiseEvaluation.cpp - Elementwise operations -----------------===//

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/Evaluation/IndexSpace.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// The row-major index of the element `at` of the local shard in a tensor of the shape `whole`.
int64_t getGlobalIndex(const IndexSpace &space, ArrayRef<int64_t> whole, int64_t at) {
  int64_t index = 0, stride = 1;
  for (int64_t d = whole.size(); d-- > 0; at /= space.getDim(d).size) {
    index += (space.getDim(d).offset + at % space.getDim(d).size) * stride;
    stride *= whole[d];
  }
  return index;
}

/// The shape whose indices the operation computes with.
SmallVector<int64_t> getWholeShape(Operation *op) {
  if (auto random = dyn_cast<RandomOp>(op))
    return random.getWholeShape();
  return SmallVector<int64_t>(cast<NamedTensorType>(op->getResult(0).getType()).getShape());
}

/// The index space is the results'. What computes with the index gets it before the operands: the
/// global one, row-major.
LogicalResult evaluateElementwise(Operation *op, ArrayRef<const HostTensor *> operands,
                                  MutableArrayRef<HostTensor> results,
                                  const ShardOffsets &offsets) {
  IndexSpace space(op, offsets);
  if (failed(space.join(op->getResult(0), results[0])))
    return failure();
  int64_t resultRank = space.getRank();
  for (auto [value, tensor] : llvm::zip_equal(op->getOperands(), operands))
    if (failed(space.join(value, *tensor)))
      return failure();
  if (space.getRank() != resultRank)
    return op->emitOpError("the result does not hold \"")
           << space.getDim(resultRank).name << "\" of an operand";

  std::vector<std::vector<int64_t>> strides;
  for (auto [value, tensor] : llvm::zip_equal(op->getOperands(), operands))
    strides.push_back(space.getStrides(value, *tensor));
  auto scalar = cast<ScalarOpInterface>(op);
  size_t first = isa<IotaOp, RandomOp>(op);
  SmallVector<int64_t> whole = getWholeShape(op);
  SmallVector<double> in(first + operands.size()), out(results.size());
  int64_t at = 0;
  space.walk(strides, [&](const std::vector<int64_t> &offsets) {
    for (size_t i = 0; i < operands.size(); ++i)
      in[first + i] = operands[i]->data[offsets[i]];
    if (first)
      in[0] = static_cast<double>(getGlobalIndex(space, whole, at));
    scalar.evaluateElement(in, out);
    for (auto [result, value] : llvm::zip_equal(results, out))
      result.data[at] = value;
    ++at;
  });
  return success();
}

template <typename Op> struct Model : EvaluableOpInterface::ExternalModel<Model<Op>, Op> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const ShardOffsets &offsets) const {
    return evaluateElementwise(op, operands, results, offsets);
  }
};

template <typename... Ops> void attach(MLIRContext &context) {
  (Ops::template attachInterface<Model<Ops>>(context), ...);
}

} // namespace

void ir::attachElementwiseEvaluation(MLIRContext &context) {
  attach<NegOp, ExpOp, LogOp, SqrtOp, RsqrtOp, TanhOp, SigmoidOp, ErfOp, SinOp, CosOp, AddOp, SubOp,
         MulOp, DivOp, MaximumOp, MinimumOp, CompareOp, SelectOp, CastOp, CopyOp, ExpandOp,
         ConstantOp, IotaOp, RandomOp, AdamWOp>(context);
}
