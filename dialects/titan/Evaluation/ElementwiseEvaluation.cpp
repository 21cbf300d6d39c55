//===- ElementwiseEvaluation.cpp - One scalar function at every element ---===//

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/Evaluation/IndexSpace.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// The index space is the results'. `iota` gets its global index as the only input.
LogicalResult evaluateElementwise(Operation *op, ArrayRef<const HostTensor *> operands,
                                  MutableArrayRef<HostTensor> results, const RankPlace &place) {
  IndexSpace space(op, place);
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
  bool isIota = isa<IotaOp>(op);
  SmallVector<double> in(isIota ? 1 : operands.size()), out(results.size());
  int64_t at = 0;
  space.walk(strides, [&](const std::vector<int64_t> &offsets) {
    for (size_t i = 0; i < operands.size(); ++i)
      in[i] = operands[i]->data[offsets[i]];
    if (isIota)
      in[0] = space.getDim(0).offset + at;
    scalar.evaluateElement(in, out);
    for (auto [result, value] : llvm::zip_equal(results, out))
      result.data[at] = value;
    ++at;
  });
  return success();
}

template <typename Op> struct Model : EvaluableOpInterface::ExternalModel<Model<Op>, Op> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankPlace &place) const {
    return evaluateElementwise(op, operands, results, place);
  }
};

template <typename... Ops> void attach(MLIRContext &context) {
  (Ops::template attachInterface<Model<Ops>>(context), ...);
}

} // namespace

void ir::attachElementwiseEvaluation(MLIRContext &context) {
  attach<NegOp, ExpOp, LogOp, SqrtOp, RsqrtOp, TanhOp, SigmoidOp, ErfOp, SinOp, CosOp, AddOp, SubOp,
         MulOp, DivOp, MaximumOp, MinimumOp, CompareOp, SelectOp, CastOp, ExpandOp, ConstantOp,
         IotaOp, AdamWOp>(context);
}
