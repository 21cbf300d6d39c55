// The pass --dist-pad-dimensions.
//
// Rewrites the global program. Afterwards only attributes of arguments and results say which
// elements are padding. After GSPMD (Xu et al., arXiv 2105.04663), which masks padding with the
// identity of each reduction. Few masks remain here, because sharding rules say where padding is
// harmless, and zeros are tracked through linear operations. See docs/rationale/padding.md.

#include "dialects/dist/Transforms/Shard/PaddedDims.h"
#include "dialects/dist/Transforms/Shard/PaddedValues.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTPADDIMENSIONS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::getTensorType;
using ir::NamedTensorType;

static ReductionKind getReduction(FactorKind kind) {
  return kind == FactorKind::Max   ? ReductionKind::Max
         : kind == FactorKind::Min ? ReductionKind::Min
                                   : ReductionKind::Sum;
}

/// Whether results may be finite where operands are not.
static bool mayHideInfinity(Operation *op) {
  return isa<ir::SelectOp, ir::MaximumOp, ir::MinimumOp, ir::TanhOp, ir::ErfOp>(op);
}

/// Whether 0 times an operand that all elements share, or 0 divided by it, is 0.
static bool leavesZero(Operation *op, Value operand) {
  if (!isa<FloatType>(getTensorType(operand).getElementType()))
    return true;
  auto constant = operand.getDefiningOp<ir::ConstantOp>();
  return constant && std::isfinite(constant.getNumber()) &&
         !(isa<ir::DivOp>(op) && constant.getNumber() == 0);
}

namespace {

/// Whether padding of a result is 0.
enum class Zero {
  No,
  WhereFinite, ///< unless an element beside the padding is not finite
  Always
};

/// One operation whose operands are padded already.
class OpPadder {
public:
  OpPadder(Operation *op, const PaddedDims &dims, PaddedValues &values) : op(op), values(values) {
    for (Value result : op->getResults()) {
      originals.push_back(getTensorType(result));
      padded.push_back(dims.pad(getTensorType(result)));
      result.setType(padded.back());
    }
  }

  void run() {
    rule = cast<ir::ShardingRuleOpInterface>(op).getShardingRule();
    for (const Factor &factor : rule.factors)
      adaptTo(factor);
    for (OpResult result : op->getResults())
      finish(result);
  }

private:
  /// Whether all dimensions of `factor` have the same size before padding, and the same size after.
  /// Those of a merge have not: the merged dimension also contains the inner dimensions.
  bool hasEqualPadding(const Factor &factor) const {
    std::optional<std::pair<int64_t, int64_t>> sizes;
    auto isEqual = [&](Value value, int64_t dim, NamedTensorType original) {
      std::pair own(original.getDims()[dim].getSize(),
                    getTensorType(value).getDims()[dim].getSize());
      bool fits = own.first != own.second && sizes.value_or(own) == own;
      sizes = own;
      return fits;
    };
    for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), factor.operandDims))
      if (dim >= 0 && !isEqual(operand, dim, values.getOriginal(operand)))
        return false;
    for (auto [result, dim, original] :
         llvm::zip_equal(op->getResults(), factor.resultDims, originals))
      if (dim >= 0 && !isEqual(result, dim, original))
        return false;
    return true;
  }

  /// Whether a contraction may sum over the padding of `operand` without a mask, which would cost
  /// one more pass through memory. The padding is 0 unless elements beside it are not finite; then
  /// the sum is not finite either.
  bool isHarmlessTerm(const Factor &factor, Value operand, int64_t dim) const {
    return getReduction(factor.kind) == ReductionKind::Sum && isa<ir::ContractOp>(op) &&
           values.isZero(operand, dim);
  }

  void adaptTo(const Factor &factor) {
    bool isInPlace = factor.padding != Padding::Forbidden && hasEqualPadding(factor);
    for (auto [i, dim] : llvm::enumerate(factor.operandDims)) {
      Value operand = op->getOperand(i);
      if (dim < 0 || !values.isPadded(operand, dim))
        continue;
      if (!isInPlace)
        op->setOperand(i, values.getSliced(operand, dim));
      else if (factor.padding == Padding::Reduced && !isHarmlessTerm(factor, operand, dim))
        op->setOperand(i, values.getMasked(operand, dim, getReduction(factor.kind)));
    }
    if (!isInPlace)
      for (auto [result, dim, original] :
           llvm::zip_equal(op->getResults(), factor.resultDims, originals))
        if (dim >= 0)
          result.setType(setDimLike(getTensorType(result), dim, original));
  }

  /// Records where `result` is 0, and pads dimensions that were computed unpadded.
  void finish(OpResult result) {
    unsigned number = result.getResultNumber();
    llvm::SmallBitVector zero(originals[number].getRank());
    bool isAlways = true;
    for (const Factor &factor : rule.factors)
      if (int dim = factor.resultDims[number]; dim >= 0)
        if (Zero is = getZero(factor); is != Zero::No) {
          zero.set(dim);
          isAlways &= is == Zero::Always;
        }
    NamedTensorType type = getTensorType(result);
    values.add(result, originals[number], zero, isAlways);
    Value value = result;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (type.getDims()[d] == padded[number].getDims()[d])
        continue;
      Value before = value;
      value = builder.create<ir::PadOp>(op->getLoc(),
                                        setDimLike(getTensorType(value), d, padded[number]), value,
                                        type.getDims()[d].getName(), /*offset=*/0);
      before.replaceAllUsesExcept(value, value.getDefiningOp());
      values.add(value, originals[number], zero.set(d), isAlways);
    }
  }

  /// Results are 0 in the padding of a factor if all operands of a set in which the operation is
  /// linear are 0 there, and no other operand turns these zeros into NaN. An operand that has the
  /// factor does not if it is 0 there, too, and the operation multiplies by it; a divisor of 0
  /// would give NaN. An operand without the factor gives NaN if it is infinite. The elements beside
  /// the padding are then not finite either, unless the operation hides that.
  Zero getZero(const Factor &factor) const {
    if (factor.padding == Padding::Zeroed)
      return Zero::Always;
    auto isZeroAt = [&](unsigned i) {
      return values.isZero(op->getOperand(i), factor.operandDims[i]);
    };
    auto isFactorOf = [&](unsigned i) {
      return llvm::any_of(rule.linearSets, [&](const std::vector<unsigned> &set) {
        return llvm::is_contained(set, i);
      });
    };
    auto isHarmless = [&](unsigned i) {
      return factor.operandDims[i] < 0 || (isZeroAt(i) && isFactorOf(i)) ||
             !isa<FloatType>(getTensorType(op->getOperand(i)).getElementType());
    };
    auto givesZero = [&](const std::vector<unsigned> &set) {
      return llvm::all_of(llvm::seq(op->getNumOperands()), [&](unsigned i) {
        return llvm::is_contained(set, i) ? isZeroAt(i) : isHarmless(i);
      });
    };
    auto isAlways = [&](const std::vector<unsigned> &set) {
      return llvm::all_of(llvm::enumerate(op->getOperands()), [&](auto operand) {
        bool hasFactor = factor.operandDims[operand.index()] >= 0;
        return hasFactor
                   ? values.isAlwaysZero(operand.value())
                   : llvm::is_contained(set, operand.index()) || leavesZero(op, operand.value());
      });
    };
    Zero zero = Zero::No;
    for (const auto *sets : {&rule.linearSets, &rule.zeroSets})
      for (const std::vector<unsigned> &set : llvm::make_filter_range(*sets, givesZero))
        zero = std::max(zero, isAlways(set) ? Zero::Always : Zero::WhereFinite);
    return zero == Zero::WhereFinite && mayHideInfinity(op) ? Zero::No : zero;
  }

  Operation *op;
  PaddedValues &values;
  ShardingRule rule;
  SmallVector<NamedTensorType> originals, padded;
};

class Padder {
public:
  explicit Padder(const PaddedDims &dims) : dims(dims) {}

  LogicalResult run(func::FuncOp function) {
    for (BlockArgument arg : function.getArguments()) {
      auto original = dyn_cast<NamedTensorType>(arg.getType());
      if (!original || dims.pad(original) == original)
        continue;
      unsigned number = arg.getArgNumber();
      if (function.getArgAttr(number, ir::attr::kInput))
        return function.emitError("cannot be padded: argument ")
               << number << " is an input of type " << original;
      addZero(arg, original);
      function.setArgAttr(number, ir::attr::kUnpadded, getSizes(original));
    }
    if (failed(visitBlock(function.getBody().front())))
      return failure();
    visitReturn(function);
    return success();
  }

private:
  static Attribute getSizes(NamedTensorType type) {
    return DenseI64ArrayAttr::get(type.getContext(), type.getShape());
  }

  void addZero(Value value, NamedTensorType original) {
    value.setType(dims.pad(original));
    values.addZero(value, original);
  }

  LogicalResult visitBlock(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      if (auto repeat = dyn_cast<ir::RepeatOp>(op)) {
        if (failed(visitRepeat(repeat)))
          return failure();
      } else if (isa<ir::ShardingRuleOpInterface>(op)) {
        OpPadder(&op, dims, values).run();
      } else if (llvm::any_of(op.getOperands(), [&](Value operand) {
                   return values.getOriginal(operand) != operand.getType();
                 })) {
        return op.emitOpError("cannot be padded: it has no sharding rule");
      }
    }
    return success();
  }

  /// The padding of iteration arguments is 0, except for that of a sum, which is masked once, after
  /// the repeat. The padding of a slot is 0 where that of its stack is, and the padding of a stack
  /// is 0 where those of all yielded slots are.
  LogicalResult visitRepeat(ir::RepeatOp repeat) {
    SmallVector<NamedTensorType> originals = llvm::map_to_vector(
        repeat.getResults(), [](Value result) { return getTensorType(result); });
    unsigned numIterArgs = repeat.getNumIterArgs();
    for (unsigned i = 0; i < numIterArgs; ++i)
      repeat->setOperand(i, values.getZeroed(repeat->getOperand(i)));
    for (const ir::RepeatVariant &body : repeat.getVariants()) {
      for (BlockArgument arg : body.getIterArgs())
        addIterArg(arg, getTensorType(arg));
      for (auto [stack, slice, number] : body.getScannedInputs())
        addSlice(slice, stack);
      if (failed(visitBlock(body.getBlock())))
        return failure();
      for (unsigned i = 0; i < numIterArgs; ++i)
        if (!isSum(repeat, i))
          body.getYield()->setOperand(i, values.getZeroed(body.getYield()->getOperand(i)));
    }
    for (auto [i, result] : llvm::enumerate(repeat.getResults())) {
      result.setType(dims.pad(originals[i]));
      if (i >= numIterArgs)
        values.add(result, originals[i], getZeroOfStack(repeat, i),
                   areYieldedAlwaysZero(repeat, i));
      else if (isSum(repeat, i))
        addSum(repeat, i, originals[i]);
      else
        addIterArg(result, originals[i]);
    }
    return success();
  }

  /// Whether iterations only add terms to the iteration argument: nothing else in the repeat reads
  /// its padding.
  static bool isSum(ir::RepeatOp repeat, unsigned number) {
    return llvm::all_of(repeat.getVariants(), [&](const ir::RepeatVariant &body) {
      Value sum = body.getIterArgs()[number], next = body.getYieldedIterArgs()[number];
      auto add = next.getDefiningOp<ir::AddOp>();
      return add && next.hasOneUse() && sum.hasOneUse() && *sum.user_begin() == add.getOperation();
    });
  }

  /// Masks a sum where the padding of a term is not 0. Masks of the terms would keep reductions of
  /// terms in the repeat.
  void addSum(ir::RepeatOp repeat, unsigned number, NamedTensorType original) {
    Value sum = repeat.getResult(number);
    values.add(sum, original, getZeroOfYielded(repeat, number), /*isAlwaysZero=*/false);
    SmallVector<OpOperand *> uses =
        llvm::map_to_vector(sum.getUses(), [](OpOperand &use) { return &use; });
    Value zeroed = values.getZeroed(sum);
    for (OpOperand *use : uses)
      use->set(zeroed);
  }

  /// Records an iteration argument. Its padding is 0, but possibly without a mask: only if the
  /// elements beside the padding are finite.
  void addIterArg(Value value, NamedTensorType original) {
    value.setType(dims.pad(original));
    values.add(value, original, llvm::SmallBitVector(original.getRank(), true),
               /*isAlwaysZero=*/false);
  }

  bool areYieldedAlwaysZero(ir::RepeatOp repeat, unsigned result) const {
    return llvm::all_of(repeat.getYielded(result),
                        [&](Value yielded) { return values.isAlwaysZero(yielded); });
  }

  void addSlice(BlockArgument slice, Value stack) {
    NamedTensorType original = getTensorType(slice);
    slice.setType(dims.pad(original));
    llvm::SmallBitVector zero = values.getZero(stack);
    zero >>= 1;
    zero.resize(original.getRank());
    values.add(slice, original, zero, values.isAlwaysZero(stack));
  }

  /// The dimensions in whose padding all yielded values are 0.
  llvm::SmallBitVector getZeroOfYielded(ir::RepeatOp repeat, unsigned result) const {
    llvm::SmallBitVector zero;
    for (Value yielded : repeat.getYielded(result)) {
      llvm::SmallBitVector own = values.getZero(yielded);
      zero = zero.empty() ? own : zero &= own;
    }
    return zero;
  }

  llvm::SmallBitVector getZeroOfStack(ir::RepeatOp repeat, unsigned result) const {
    llvm::SmallBitVector zero = getZeroOfYielded(repeat, result);
    zero.resize(zero.size() + 1);
    return zero <<= 1;
  }

  /// Persistent state and gradients are returned padded, outputs unpadded.
  void visitReturn(func::FuncOp function) {
    Operation *ret = function.getBody().front().getTerminator();
    for (OpOperand &operand : ret->getOpOperands()) {
      Value value = operand.get();
      unsigned number = operand.getOperandNumber();
      NamedTensorType original = values.getOriginal(value);
      bool isUpdate = function.getResultAttr(number, ir::attr::kUpdates) ||
                      function.getResultAttr(number, ir::attr::kGradient);
      operand.set(isUpdate ? values.getZeroed(value) : values.getUnpadded(value));
      if (isUpdate && value.getType() != original)
        function.setResultAttr(number, ir::attr::kUnpadded, getSizes(original));
    }
    function.setFunctionType(FunctionType::get(
        function.getContext(), function.getBody().getArgumentTypes(), ret->getOperandTypes()));
  }

  const PaddedDims &dims;
  PaddedValues values;
};

struct PadDimensions : titan::dist::impl::DistPadDimensionsBase<PadDimensions> {
  void runOnOperation() override {
    auto pad = [](func::FuncOp function, const MeshView &mesh) {
      PaddedDims dims(mesh);
      return dims.isEmpty() ? success() : Padder(dims).run(function);
    };
    if (failed(forEachFunction(getOperation(), pad)))
      signalPassFailure();
  }
};

} // namespace
