// The pass --titan-split-evaluation: separates the numbers that an evaluation computes for each
// batch from the outputs that it computes once, from means over all batches.

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Model/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANSPLITEVALUATION
#include "dialects/titan/Transforms/Model/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

static bool isNumber(Value value) {
  return getTensorType(value).getRank() == 0;
}

static bool isBool(Value value) {
  return getTensorType(value).getElementType().isInteger(1);
}

static bool isInteger(Value value) {
  return isa<IntegerType>(getTensorType(value).getElementType()) && !isBool(value);
}

/// Whether the result equals the operand.
static bool isIdentity(Operation *op) {
  return isa<ShardingConstraintOp, StopGradientOp>(op);
}

/// Whether the mean of the result over batches follows from the means of the operands.
static bool isAffineStep(Operation *op) {
  auto isConstant = [](Value value) { return bool(value.getDefiningOp<ConstantOp>()); };
  if (isa<MulOp>(op))
    return llvm::any_of(op->getOperands(), isConstant);
  if (isa<DivOp>(op))
    return isConstant(op->getOperand(1));
  if (isa<CastOp>(op) && isInteger(op->getResult(0))) // rounds, unless the operand is whole
    return isInteger(op->getOperand(0)) || isBool(op->getOperand(0));
  return isIdentity(op) || isa<ConstantOp, CastOp, CopyOp, NegOp, AddOp, SubOp>(op);
}

namespace {
/// Properties of the numbers of an evaluation. Each value is analysed once: values may share
/// operands often enough that the number of paths between them is exponential.
class NumberAnalysis {
public:
  /// Whether a scalar function can contain the operation of `value`, with an equal result in f64.
  bool isScalarStep(Value value) {
    return lookup(scalarSteps, value, [&] { return findScalarStep(value); });
  }

  /// Whether the mean of `value` over batches is its value for all batches together. Values that
  /// operations on tensors compute count as such.
  bool isAffine(Value value) {
    return lookup(affine, value, [&] {
      return !isScalarStep(value) ||
             (isAffineStep(value.getDefiningOp()) &&
              llvm::all_of(value.getDefiningOp()->getOperands(),
                           [&](Value operand) { return isAffine(operand); }));
    });
  }

private:
  static bool lookup(DenseMap<Value, bool> &known, Value value, function_ref<bool()> find) {
    if (auto entry = known.find(value); entry != known.end())
      return entry->second;
    return known[value] = find();
  }

  bool findScalarStep(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !isNumber(value))
      return false;
    if (isIdentity(op) || isa<ConstantOp>(op))
      return true;
    if (!op->hasTrait<Elementwise>() || isa<PositionalOpInterface, RandomOp, ApplyOp>(op) ||
        isInteger(value)) // f64 does not divide as integers do
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return isNumber(operand) && (!isBool(operand) || isScalarStep(operand));
    });
  }

  DenseMap<Value, bool> scalarSteps, affine;
};

/// Outputs of an evaluation that become functions of other outputs.
class EvaluationSplit {
public:
  explicit EvaluationSplit(func::FuncOp evaluation)
      : evaluation(evaluation), terminator(evaluation.getBody().front().getTerminator()),
        f64(NamedTensorType::get(Float64Type::get(evaluation.getContext()), {})) {}

  void run() {
    BitVector moved(evaluation.getNumResults());
    for (unsigned i = 0; i < evaluation.getNumResults(); ++i)
      if (evaluation.getResultAttr(i, attr::kOutput) &&
          !numbers.isAffine(terminator->getOperand(i)))
        moved.set(i);
    for (unsigned i = 0; i < moved.size(); ++i)
      if (!moved[i])
        if (auto name = evaluation.getResultAttrOfType<StringAttr>(i, attr::kOutput))
          names.try_emplace(terminator->getOperand(i), name);
    for (unsigned i : moved.set_bits())
      move(i);
    evaluation.eraseResults(moved);
    terminator->eraseOperands(moved);
    for (auto [value, name] : added)
      appendResult(evaluation, value, {{StringAttr::get(name.getContext(), attr::kOutput), name}});
  }

private:
  /// Adds the function of output `index` in front of the program.
  void move(unsigned index) {
    auto output = evaluation.getResultAttrOfType<StringAttr>(index, attr::kOutput);
    OpBuilder builder(evaluation);
    auto function = builder.create<ScalarFunctionOp>(terminator->getOperand(index).getLoc(),
                                                     ("evaluation." + output.getValue()).str());
    Block &body = function.getBody().emplaceBlock();
    builder.setInsertionPointToEnd(&body);
    IRMapping mapping;
    sources.clear();
    Value result = build(terminator->getOperand(index), body, builder, mapping);
    builder.create<YieldOp>(function.getLoc(), result);
    function->setAttr(attr::kEvaluates, output);
    function->setAttr(attr::kBatchValues, builder.getArrayAttr(sources));
  }

  /// The value of `value` in the function `body`: a copy of its operation, or an argument.
  Value build(Value value, Block &body, OpBuilder &builder, IRMapping &mapping) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    bool isStep = numbers.isScalarStep(value);
    Value made = isStep ? copy(value.getDefiningOp(), body, builder, mapping)
                        : body.addArgument(f64, value.getLoc());
    if (!isStep)
      sources.push_back(getOrAddName(value));
    mapping.map(value, made);
    return made;
  }

  /// The operation in f64.
  Value copy(Operation *op, Block &body, OpBuilder &builder, IRMapping &mapping) {
    if (auto constant = dyn_cast<ConstantOp>(op); constant && !isBool(constant.getResult()))
      return builder.create<ConstantOp>(op->getLoc(), f64, constant.getNumber());
    for (Value operand : op->getOperands())
      build(operand, body, builder, mapping);
    if (isIdentity(op) || (isa<CastOp>(op) && !isBool(op->getOperand(0))))
      return mapping.lookup(op->getOperand(0));
    Value result = builder.clone(*op, mapping)->getResult(0);
    if (!isBool(result))
      result.setType(f64);
    return result;
  }

  /// The output of the evaluation with this value.
  StringAttr getOrAddName(Value value) {
    auto [known, isNew] = names.try_emplace(value);
    if (isNew) {
      known->second = StringAttr::get(value.getContext(), "batch." + Twine(added.size()));
      added.emplace_back(value, known->second);
    }
    return known->second;
  }

  func::FuncOp evaluation;
  Operation *terminator;
  NamedTensorType f64;
  NumberAnalysis numbers;
  DenseMap<Value, StringAttr> names; ///< of the outputs of each batch
  SmallVector<std::pair<Value, StringAttr>> added;
  SmallVector<Attribute> sources; ///< of the arguments of the function that is built
};

struct SplitEvaluation : titan::ir::impl::TitanSplitEvaluationBase<SplitEvaluation> {
  void runOnOperation() override {
    if (auto evaluation = getOperation().lookupSymbol<func::FuncOp>("eval"))
      EvaluationSplit(evaluation).run();
  }
};
} // namespace
