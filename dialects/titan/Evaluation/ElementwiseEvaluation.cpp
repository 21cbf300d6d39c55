// Evaluates elementwise operations.

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
    index += space.getDim(d).shard.toGlobal(at % space.getDim(d).size) * stride;
    stride *= whole[d];
  }
  return index;
}

/// A scalar function, prepared to be evaluated at many elements. The result of each operation is
/// rounded to its element type.
class ScalarProgram {
public:
  explicit ScalarProgram(ScalarFunctionOp function) {
    llvm::DenseMap<Value, unsigned> slots;
    auto getSlot = [&](Value value) {
      return slots.try_emplace(value, slots.size()).first->second;
    };
    for (Value argument : function.getBody().getArguments())
      getSlot(argument);
    for (Operation *op : function.getSteps()) {
      Step step{op, {}, 0, cast<NamedTensorType>(op->getResult(0).getType()).getElementType()};
      for (Value operand : op->getOperands())
        step.operands.push_back(getSlot(operand));
      step.result = getSlot(op->getResult(0));
      steps.push_back(std::move(step));
    }
    for (Value value : function.getYield().getValues())
      yielded.push_back(getSlot(value));
    values.resize(slots.size());
  }

  void evaluate(ArrayRef<double> in, MutableArrayRef<double> out) {
    llvm::copy(in, values.begin());
    for (const Step &step : steps) {
      SmallVector<double> operands;
      for (unsigned operand : step.operands)
        operands.push_back(values[operand]);
      double result = 0;
      cast<ScalarOpInterface>(step.op).evaluateElement(operands, result);
      values[step.result] = round(result, step.element);
    }
    for (auto [slot, result] : llvm::zip_equal(yielded, out))
      result = values[slot];
  }

private:
  struct Step {
    Operation *op;
    SmallVector<unsigned> operands;
    unsigned result;
    Type element;
  };

  static double round(double value, Type element) {
    auto type = dyn_cast<FloatType>(element);
    if (!type || type.isF64())
      return value;
    llvm::APFloat exact(value);
    bool losesDigits = false;
    exact.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesDigits);
    return exact.convertToDouble();
  }

  SmallVector<Step> steps;
  SmallVector<unsigned> yielded;
  SmallVector<double> values;
};

/// The function by which an elementwise operation computes one element of its results.
std::function<void(ArrayRef<double>, MutableArrayRef<double>)> getElementFunction(Operation *op) {
  if (auto apply = dyn_cast<ApplyOp>(op))
    return [program = ScalarProgram(apply.getCallee())](ArrayRef<double> in,
                                                        MutableArrayRef<double> out) mutable {
      program.evaluate(in, out);
    };
  return [scalar = cast<ScalarOpInterface>(op)](ArrayRef<double> in,
                                                MutableArrayRef<double> out) mutable {
    scalar.evaluateElement(in, out);
  };
}

/// The shape of the tensor in which the operation counts global indices.
SmallVector<int64_t> getWholeShape(Operation *op) {
  if (auto random = dyn_cast<RandomOp>(op))
    return random.getWholeShape();
  return SmallVector<int64_t>(cast<NamedTensorType>(op->getResult(0).getType()).getShape());
}

/// Iterates over the index space of the results. Operations that compute with an index
/// (PositionalOpInterface) get the global row-major index as an additional first input.
LogicalResult evaluateElementwise(Operation *op, ArrayRef<const HostTensor *> operands,
                                  MutableArrayRef<HostTensor> results, const RankShards &shards) {
  IndexSpace space(op, shards);
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
  auto function = getElementFunction(op);
  size_t firstOperand = isa<PositionalOpInterface>(op) ? 1 : 0;
  SmallVector<int64_t> whole = getWholeShape(op);
  SmallVector<double> in(firstOperand + operands.size()), out(results.size());
  int64_t at = 0;
  space.walk(strides, [&](const std::vector<int64_t> &offsets) {
    for (size_t i = 0; i < operands.size(); ++i)
      in[firstOperand + i] = operands[i]->data[offsets[i]];
    if (firstOperand == 1)
      in[0] = static_cast<double>(getGlobalIndex(space, whole, at));
    function(in, out);
    for (auto [result, value] : llvm::zip_equal(results, out))
      result.data[at] = value;
    ++at;
  });
  return success();
}

template <typename Op> struct Model : EvaluableOpInterface::ExternalModel<Model<Op>, Op> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &shards) const {
    return evaluateElementwise(op, operands, results, shards);
  }
};

template <typename... Ops> void attach(MLIRContext &context) {
  (Ops::template attachInterface<Model<Ops>>(context), ...);
}

} // namespace

void ir::attachElementwiseEvaluation(MLIRContext &context) {
  attach<NegOp, ExpOp, LogOp, SqrtOp, RsqrtOp, TanhOp, SigmoidOp, ErfOp, SinOp, CosOp, FloorOp,
         AddOp, SubOp, MulOp, DivOp, PowOp, MaximumOp, MinimumOp, CompareOp, SelectOp, CastOp,
         CopyOp, ExpandOp, ConstantOp, IotaOp, RandomOp, ApplyOp>(context);
}
