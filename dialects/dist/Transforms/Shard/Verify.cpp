// The pass --dist-verify.

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTVERIFY
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

namespace {

/// Checks one operation against its sharding rule, axis by axis.
class OpChecker {
public:
  OpChecker(Operation *op, const MeshView &mesh)
      : op(op), mesh(mesh), rule(cast<ir::ShardingRuleOpInterface>(op).getShardingRule()) {
    for (Value operand : op->getOperands())
      operands.push_back(getByAxis(operand));
    for (Value result : op->getResults())
      results.push_back(getByAxis(result));
  }

  LogicalResult check() {
    for (size_t a = 0; a < mesh.getNumAxes(); ++a)
      if (failed(checkAxis(a)))
        return failure();
    return checkOrders();
  }

private:
  ShardingByAxis getByAxis(Value value) const {
    return mesh.getByAxis(cast<NamedTensorType>(value.getType()).getSharding());
  }

  /// An axis must shard all operands and results in one order.
  LogicalResult checkOrders() const {
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    for (Value a : values)
      for (Value b : values)
        if (!getSharding(a).hasSameOrders(getSharding(b)))
          return op->emitOpError("has shards in block and in head-tail order: ")
                 << a.getType() << " and " << b.getType();
    return success();
  }

  static bool isReplicated(const ShardingByAxis &byAxis, size_t a) {
    return byAxis.dimOfAxis[a] == kReplicated;
  }

  LogicalResult checkAxis(size_t a) {
    auto replicated = [&](const ShardingByAxis &byAxis) { return isReplicated(byAxis, a); };
    if (llvm::all_of(operands, replicated) && llvm::all_of(results, replicated))
      return success();
    if (forwardsPartial(a) || isFlat(a))
      return success();
    int factor = findFactor(a);
    if (factor >= 0)
      return checkSplit(a, factor);
    return complain(
        a, factor == kReplicated ? "no legal sharding over axis '" : "it cannot use axis '", -1,
        "");
  }

  /// Whether exactly the operands of one linear set are partial sums, and so are all results.
  bool forwardsPartial(size_t a) const {
    auto isSum = [&](const ShardingByAxis &p) {
      return p.dimOfAxis[a] == kPartial && p.kind == ReductionKind::Sum;
    };
    if (!llvm::all_of(results, isSum))
      return false;
    return llvm::any_of(rule.linearSets, [&](const std::vector<unsigned> &set) {
      return llvm::all_of(llvm::enumerate(operands), [&](auto operand) {
        return llvm::is_contained(set, operand.index()) ? isSum(operand.value())
                                                        : isReplicated(operand.value(), a);
      });
    });
  }

  bool isScalar(size_t i) const {
    return cast<NamedTensorType>(op->getOperand(i).getType()).getRank() == 0;
  }

  bool isFlat(size_t a) const {
    if (!rule.isElementwise && !rule.contractsFlat)
      return false;
    int from = -1;
    auto sameFlat = [&](const ShardingByAxis &byAxis) {
      from = from < 0 ? byAxis.flatFrom : from;
      return byAxis.dimOfAxis[a] == kFlat && byAxis.flatFrom == from;
    };
    for (auto [i, byAxis] : llvm::enumerate(operands))
      if (isScalar(i) ? !isReplicated(byAxis, a) : !sameFlat(byAxis))
        return false;
    if (rule.contractsFlat)
      return results[0].dimOfAxis[a] == kPartial && results[0].kind == ReductionKind::Sum;
    return llvm::all_of(results, sameFlat);
  }

  /// The factor of the first operand or result that the axis shards.
  int findFactor(size_t a) const {
    for (auto [i, byAxis] : llvm::enumerate(operands))
      if (int f = findOperandFactor(rule, i, byAxis.dimOfAxis[a]); f >= 0)
        return f;
    for (auto [i, byAxis] : llvm::enumerate(results))
      if (int f = findResultFactor(rule, i, byAxis.dimOfAxis[a]); f >= 0)
        return f;
    return kReplicated;
  }

  static ReductionKind getKind(FactorKind kind) {
    return kind == FactorKind::Max   ? ReductionKind::Max
           : kind == FactorKind::Min ? ReductionKind::Min
                                     : ReductionKind::Sum;
  }

  /// Adds the dimensions of a factor that the axis shards together with `factor`.
  static void addDims(Factor &factor, const Factor &joint) {
    for (auto [dim, other] : llvm::zip_equal(factor.operandDims, joint.operandDims))
      dim = std::max(dim, other);
    for (auto [dim, other] : llvm::zip_equal(factor.resultDims, joint.resultDims))
      dim = std::max(dim, other);
  }

  /// Whether each rank adds its terms of a sum over `factor` to its part of a partial sum: the
  /// operand that is added to has the type of the result. Only the fuse phase forms this, because
  /// propagation does not know in advance that the operand is a partial sum.
  bool addsToPartialSum(size_t a, const Factor &factor) const {
    if (factor.kind != FactorKind::Replicated || op->getNumResults() != 1 ||
        factor.resultDims[0] >= 0)
      return false;
    std::optional<unsigned> sum;
    for (auto [i, dim] : llvm::enumerate(factor.operandDims)) {
      if (!sum && dim < 0 && op->getOperand(i).getType() == op->getResult(0).getType())
        sum = i;
      else if (operands[i].dimOfAxis[a] != dim)
        return false;
    }
    auto isPartialSum = [&](const ShardingByAxis &byAxis) {
      return byAxis.dimOfAxis[a] == kPartial && byAxis.kind == ReductionKind::Sum;
    };
    return sum && isPartialSum(operands[*sum]) && isPartialSum(results[0]) &&
           llvm::all_of(rule.linearSets, [&](const std::vector<unsigned> &set) {
             return set.size() > 1 && llvm::is_contained(set, *sum);
           });
  }

  LogicalResult checkSplit(size_t a, int number) {
    Factor factor = rule.factors[number];
    if (int joint = findJointFactor(rule, number, mesh.getAxes()[a]); joint >= 0)
      addDims(factor, rule.factors[joint]);
    if (addsToPartialSum(a, factor))
      return success();
    if (factor.kind == FactorKind::Replicated)
      return complain(a, "dimension '" + factor.name + "' must not be sharded, but is over axis '",
                      -1, "");
    for (auto [i, dim] : llvm::enumerate(factor.operandDims))
      if (operands[i].dimOfAxis[a] != dim)
        return complain(a, "it splits '" + factor.name + "' over axis '", i, "");
    for (auto [i, dim] : llvm::enumerate(factor.resultDims)) {
      bool isPartial = dim < 0 && factor.kind != FactorKind::Parallel;
      if (results[i].dimOfAxis[a] != (isPartial ? int(kPartial) : dim))
        return complain(a, "it splits '" + factor.name + "' over axis '", -1,
                        isPartial ? ", so the result must be partial over it"
                                  : ", but the result has another sharding");
      if (isPartial && results[i].kind != getKind(factor.kind))
        return complain(a, "it splits '" + factor.name + "' over axis '", -1,
                        ", which leads to another kind of partial value");
    }
    return success();
  }

  /// Reports an error of axis `a`. With an `operand`, adds a note at its definition.
  LogicalResult complain(size_t a, std::string what, int operand, StringRef why) const {
    InFlightDiagnostic error = op->emitOpError("is not partitioned consistently: ")
                               << what << mesh.getAxes()[a].name << "'" << why;
    if (operand >= 0) {
      error << ", but operand " << operand << " has another sharding";
      error.attachNote(op->getOperand(operand).getLoc())
          << "the operand is " << op->getOperand(operand).getType();
    }
    llvm::interleaveComma(op->getResultTypes(), error.attachNote(op->getLoc()) << "it gives ");
    return error;
  }

  Operation *op;
  const MeshView &mesh;
  ShardingRule rule;
  std::vector<ShardingByAxis> operands, results;
};

class Checker {
public:
  explicit Checker(ModuleOp module, const MeshView &mesh)
      : mesh(mesh), degrees(getDegrees(MeshOp::lookup(module))) {}

  LogicalResult check(func::FuncOp function) {
    for (BlockArgument arg : function.getArguments())
      if (failed(checkType(arg, function)))
        return failure();
    WalkResult result = function.walk([&](Operation *op) {
      return failed(checkOp(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

private:
  LogicalResult checkOp(Operation *op) {
    if (isa<ir::ShardingConstraintOp, ReshardOp>(op))
      return op->emitOpError("must not remain after the shard phase");
    for (Value result : op->getResults())
      if (failed(checkType(result, op)))
        return failure();
    if (auto repeat = dyn_cast<ir::RepeatOp>(op))
      return checkRepeat(repeat);
    if (isCollective(op) || isa<LocalSliceOp, MakePartialOp>(op)) {
      for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults()))
        if (failed(checkConversion(op, operand.getType(), result.getType())))
          return failure();
      return success();
    }
    if (isa<func::ReturnOp>(op))
      return checkReturn(op);
    if (isa<ir::ShardingRuleOpInterface>(op) && failed(OpChecker(op, mesh).check()))
      return failure();
    return success(succeeded(checkKeys<ir::AttentionOp>(op)) &&
                   succeeded(checkKeys<ir::AttentionGradOp>(op)));
  }

  /// Checks that attention sees all keys, unless it is a step of a ring.
  template <typename Op> static LogicalResult checkKeys(Operation *op) {
    auto attention = dyn_cast<Op>(op);
    if (!attention || attention.getRingStep())
      return success();
    NamedTensorType type = attention.getKey().getType();
    ArrayAttr axes = type.getSharding().getDimAxes()[type.findDimIndex(attention.getAlongAttr())];
    if (!axes.empty())
      return op->emitOpError("has keys over ") << axes << " and no ring that passes them around";
    return success();
  }

  /// Checks that axes of the mesh shard every dimension, and that their degrees divide it.
  LogicalResult checkType(Value value, Operation *op) {
    auto type = dyn_cast<NamedTensorType>(value.getType());
    if (!type)
      return success();
    if (!type.getSharding())
      return op->emitError("a tensor has no sharding after the shard phase: ") << type;
    for (auto [d, dim] : llvm::enumerate(type.getDims()))
      if (int64_t divisor = getDivisor(type.getSharding(), d, degrees);
          dim.getSize() % divisor != 0)
        return op->emitError("dimension ")
               << dim.getName() << " of size " << dim.getSize() << " is not divisible by "
               << (type.getSharding().getHeadTailAxis(d) ? "the blocks of head-tail order, "
                                                         : "its degree ")
               << divisor;
    return success();
  }

  /// Checks what the operation's own verifier cannot: a chunk of padded flat storage must not be
  /// sharded again.
  LogicalResult checkConversion(Operation *op, Type operand, Type result) const {
    auto from = cast<NamedTensorType>(operand), to = cast<NamedTensorType>(result);
    ShardingAttr before = from.getSharding(), after = to.getSharding();
    bool cutsFurther =
        before.isFlat() && after.isFlat() && before.getFlatAxes() != after.getFlatAxes();
    if (cutsFurther && !(mesh.isFlatEven(from) && mesh.isFlatEven(to)))
      return op->emitOpError("shards padded flat storage again: ") << from << " to " << to;
    return success();
  }

  /// Whether a result may be partial: it is marked, or another fragment of the program reads it.
  static bool mayBePartial(func::FuncOp function, unsigned result) {
    for (StringRef role : {ir::attr::kUnreduced, ir::attr::kStash, ir::attr::kStepValue})
      if (function.getResultAttr(result, role))
        return true;
    auto updated = function.getResultAttrOfType<IntegerAttr>(result, ir::attr::kUpdates);
    return updated && function.getArgAttr(updated.getInt(), ir::attr::kStepValue);
  }

  /// Checks that the function returns no partial value, unless the result may be partial.
  static LogicalResult checkReturn(Operation *op) {
    auto function = op->getParentOfType<func::FuncOp>();
    for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
      if (cast<NamedTensorType>(type).getSharding().isPartial() && !mayBePartial(function, i))
        return op->emitError("result ") << i << " of the function is partial: " << type;
    return success();
  }

  /// Checks that iteration arguments have one sharding, and that slots match their stacks, whose
  /// leading dimension is not sharded.
  LogicalResult checkRepeat(ir::RepeatOp repeat) {
    for (const ir::RepeatVariant &body : repeat.getVariants())
      if (failed(checkCarried(repeat, body)) || failed(checkStacks(repeat, body)))
        return failure();
    return success();
  }

  static LogicalResult checkCarried(ir::RepeatOp repeat, const ir::RepeatVariant &body) {
    for (auto [i, arg, yielded] : llvm::enumerate(body.getIterArgs(), body.getYieldedIterArgs())) {
      if (repeat.getInits()[i].getType() == arg.getType() && yielded.getType() == arg.getType() &&
          repeat.getResult(i).getType() == arg.getType())
        continue;
      InFlightDiagnostic error = repeat.emitOpError("carries value ")
                                 << i << " with different shardings";
      error.attachNote(body.getYield().getLoc())
          << "it starts as " << repeat.getInits()[i].getType() << ", is " << arg.getType()
          << " in the body and is yielded as " << yielded.getType();
      return error;
    }
    return success();
  }

  static LogicalResult checkStacks(ir::RepeatOp repeat, const ir::RepeatVariant &body) {
    for (auto [stack, slice, number] : body.getScannedInputs())
      if (failed(checkStack(repeat, cast<NamedTensorType>(stack.getType()), slice.getType())))
        return failure();
    for (auto [value, stack, operand] : body.getStackedOutputs())
      if (failed(checkStack(repeat, cast<NamedTensorType>(stack.getType()), value.getType())))
        return failure();
    return success();
  }

  static LogicalResult checkStack(ir::RepeatOp repeat, NamedTensorType stack, Type slice) {
    ShardingAttr sharding = stack.getSharding();
    if (!sharding.getDimAxes().front().empty() ||
        (sharding.isFlat() && sharding.getFlatFrom() == 0))
      return repeat.emitOpError("has a stack whose first dimension is split: ") << stack;
    if (ir::RepeatOp::getSlotType(stack) != slice)
      return repeat.emitOpError("has a stack and a slice with different shardings: ")
             << stack << " and " << slice;
    return success();
  }

  const MeshView &mesh;
  Degrees degrees;
};

struct Verify : titan::dist::impl::DistVerifyBase<Verify> {
  void runOnOperation() override {
    auto check = [&](func::FuncOp function, const MeshView &mesh) {
      return Checker(getOperation()->getParentOfType<ModuleOp>(), mesh).check(function);
    };
    if (failed(visitWithMesh(getOperation(), check)))
      signalPassFailure();
  }
};

} // namespace
