// The pass --titan-distribute-contractions: multiplies with the factors of a product instead of the
// product.

#include "dialects/titan/IR/AttributeNames.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Gradient/Activity.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANDISTRIBUTECONTRACTIONS
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

namespace {

using Dims = SmallVector<DimAttr>;

bool hasDim(ArrayRef<DimAttr> dims, StringAttr name) {
  return llvm::any_of(dims, [&](DimAttr dim) { return dim.getName() == name; });
}

Dims unite(ArrayRef<DimAttr> first, ArrayRef<DimAttr> second) {
  Dims all(first);
  llvm::copy_if(second, std::back_inserter(all),
                [&](DimAttr dim) { return !hasDim(first, dim.getName()); });
  return all;
}

double countElements(ArrayRef<DimAttr> dims) {
  double count = 1;
  for (DimAttr dim : dims)
    count *= static_cast<double>(dim.getSize());
  return count;
}

/// A multiply-add counts as two.
double countFlops(ArrayRef<DimAttr> lhs, ArrayRef<DimAttr> rhs) {
  return 2 * countElements(unite(lhs, rhs));
}

/// The contraction of `other` with `rest + scale * product`, or without `rest`.
struct Match {
  Operation *contraction; ///< a titan.contract or titan.grouped_contract
  Value other, sum, rest; ///< `rest` may be null
  Value scale;            ///< of rank 0, or null
  Operation *product;     ///< a titan.contract
  /// The factors of the product, in the order in which `other` is multiplied with them.
  Value first, second;
  /// `other` x `first`: its dimensions.
  Dims between;

  NamedTensorType getResultType() const { return getTensorType(contraction->getResult(0)); }

  /// The dimensions of the indices of a grouped contraction replace that of the table.
  Dims getDims(Value factor) const {
    auto grouped = dyn_cast<GroupedContractOp>(contraction);
    Dims dims;
    for (DimAttr dim : getTensorType(factor).getDims())
      if (!grouped || dim.getName() != grouped.getAlongAttr())
        dims.push_back(dim);
    return grouped ? unite(grouped.getIndices().getType().getDims(), dims) : dims;
  }

  ArrayRef<DimAttr> getOtherDims() const { return getTensorType(other).getDims(); }

  void order(Value one, Value two) {
    first = one;
    second = two;
    between.clear();
    const Dims needed = unite(getResultType().getDims(), getDims(two));
    for (DimAttr dim : unite(getOtherDims(), getDims(one)))
      if (hasDim(needed, dim.getName()))
        between.push_back(dim);
  }

  double countThinFlops() const {
    return countFlops(getOtherDims(), getDims(first)) + countFlops(between, getDims(second));
  }
};

/// The operand of sharding constraints: what they name will not exist.
Value skipConstraints(Value value) {
  while (auto constraint = value.getDefiningOp<ShardingConstraintOp>()) {
    if (!value.hasOneUse())
      break;
    value = constraint.getInput();
  }
  return value;
}

/// `value` as scale * product, where the product has all dimensions of `value`.
bool matchProduct(Value value, Match &match) {
  match.scale = {};
  if (auto mul = value.getDefiningOp<MulOp>(); mul && value.hasOneUse()) {
    const bool isLeft = getTensorType(mul.getLhs()).getDims().empty();
    match.scale = isLeft ? mul.getLhs() : mul.getRhs();
    if (!getTensorType(match.scale).getDims().empty())
      return false;
    value = skipConstraints(isLeft ? mul.getRhs() : mul.getLhs());
  }
  auto product = value.getDefiningOp<ContractOp>();
  match.product = product;
  return product && value.hasOneUse() && !product.getInto();
}

/// The operand of the contraction that may be the sum: of a grouped contraction, the table.
SmallVector<std::pair<Value, Value>> getSides(Operation *op) {
  if (auto contract = dyn_cast<ContractOp>(op)) {
    if (contract.getInto())
      return {};
    return {{contract.getLhs(), contract.getRhs()}, {contract.getRhs(), contract.getLhs()}};
  }
  auto grouped = cast<GroupedContractOp>(op);
  if (grouped.getInto() || !getTensorType(grouped.getRhs()).hasDim(grouped.getAlongAttr()))
    return {};
  return {{grouped.getLhs(), grouped.getRhs()}};
}

/// Whether both factors are tables of a grouped contraction.
bool hasTables(const Match &match) {
  auto grouped = dyn_cast<GroupedContractOp>(match.contraction);
  return !grouped || (getTensorType(match.product->getOperand(0)).hasDim(grouped.getAlongAttr()) &&
                      getTensorType(match.product->getOperand(1)).hasDim(grouped.getAlongAttr()));
}

/// Whether a dimension that the product sums has the name of one of `other`, which is another
/// dimension there: the factors cannot meet it.
bool clashes(const Match &match) {
  const NamedTensorType product = getTensorType(match.product->getResult(0));
  return llvm::any_of(getTensorType(match.product->getOperand(0)).getDims(), [&](DimAttr dim) {
    return !product.hasDim(dim.getName()) && (hasDim(match.getOtherDims(), dim.getName()) ||
                                              match.getResultType().hasDim(dim.getName()));
  });
}

bool hasDimsOf(Value value, Value whole) {
  return llvm::all_of(getTensorType(whole).getDims(),
                      [&](DimAttr dim) { return getTensorType(value).hasDim(dim.getName()); });
}

/// The ways to read `sum` as `rest + term`: the sum of both operands, or the term alone.
SmallVector<std::pair<Value, Value>> getTerms(Value sum) {
  if (auto add = sum.getDefiningOp<AddOp>())
    return {{add.getLhs(), add.getRhs()}, {add.getRhs(), add.getLhs()}};
  return {{Value(), sum}};
}

std::optional<Match> findMatch(Operation *op) {
  Match match{op, {}, {}, {}, {}, {}, {}, {}, {}};
  for (auto [other, sum] : getSides(op)) {
    sum = skipConstraints(sum);
    const bool hasOneType =
        getTensorType(sum).getElementType() == match.getResultType().getElementType();
    if (!sum.hasOneUse() || !hasOneType)
      continue;
    match.other = other;
    match.sum = sum;
    for (auto [rest, whole] : getTerms(sum)) {
      const Value term = skipConstraints(whole);
      match.rest = rest;
      if ((rest && !hasDimsOf(rest, sum)) || !hasDimsOf(term, sum) || !matchProduct(term, match) ||
          !hasTables(match) || clashes(match))
        continue;
      match.order(match.product->getOperand(0), match.product->getOperand(1));
      Match swapped = match;
      swapped.order(match.product->getOperand(1), match.product->getOperand(0));
      return swapped.countThinFlops() < match.countThinFlops() ? swapped : match;
    }
  }
  return std::nullopt;
}

/// Whether the factors take fewer operations than the product. With a gradient, every product has
/// two more; the gradient of the sum is one more, unless `rest` needs it anyway.
bool isCheaper(const Match &match, const Activity *activity) {
  const Value product = match.product->getResult(0);
  const bool isTrained = activity && activity->isActive(product);
  const double passes = isTrained ? 3 : 1;
  const NamedTensorType sum = getTensorType(match.sum);
  double formed = passes * (countFlops(getTensorType(match.product->getOperand(0)).getDims(),
                                       getTensorType(match.product->getOperand(1)).getDims()) +
                            countElements(sum.getDims()));
  if (!match.rest) // the contraction with the product itself is not needed either
    formed += passes * countFlops(match.getOtherDims(), match.getDims(match.sum));
  else if (isTrained && !activity->isActive(match.rest))
    formed += countFlops(match.getOtherDims(), match.getDims(match.sum));
  const double thin =
      passes * (match.countThinFlops() + countElements(match.getResultType().getDims()));
  return thin < formed;
}

/// The contraction of `lhs` with another operand instead of the sum.
Value contractWith(const Match &match, TensorBuilder &builder, Value lhs, Value rhs,
                   NamedTensorType type) {
  Value result;
  if (auto grouped = dyn_cast<GroupedContractOp>(match.contraction))
    result = builder.create<GroupedContractOp>(type, lhs, rhs, grouped.getIndices(),
                                               grouped.getAlongAttr());
  else
    result = builder.create<ContractOp>(type, lhs, rhs);
  result.getDefiningOp()->setDiscardableAttrs(match.contraction->getDiscardableAttrDictionary());
  return result;
}

/// Erases the contraction, and of the operations of the sum those that nothing else uses.
void eraseUnused(const Match &match) {
  Operation *contraction = match.contraction;
  SetVector<Operation *> ops;
  ops.insert(contraction);
  for (size_t i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands())
      if (Operation *of = operand.getDefiningOp();
          of && operand != match.other && of->getBlock() == contraction->getBlock() &&
          isa<AddOp, MulOp, ContractOp, ShardingConstraintOp>(of))
        ops.insert(of);
  SmallVector<Operation *> lastFirst(ops.getArrayRef());
  llvm::sort(lastFirst, [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *op : lastFirst)
    if (isOpTriviallyDead(op))
      op->erase();
}

void distribute(const Match &match) {
  OpBuilder base(match.contraction);
  TensorBuilder builder(base, match.contraction->getLoc());
  const NamedTensorType type = match.getResultType();
  Value whole;
  if (match.rest)
    whole = contractWith(match, builder, match.other, match.rest, type);
  const Value narrow = contractWith(match, builder, match.other, match.first,
                                    NamedTensorType::get(type.getElementType(), match.between));
  Value update = contractWith(match, builder, narrow, match.second, type);
  if (match.scale)
    update = builder.mul(match.scale, update);
  const Value result = builder.fitTo(whole ? builder.add(whole, update) : update, type);
  match.contraction->getResult(0).replaceAllUsesWith(result);
  eraseUnused(match);
}

struct DistributeContractions
    : titan::ir::impl::TitanDistributeContractionsBase<DistributeContractions> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto program = function->getAttrOfType<StringAttr>(attr::kProgram);
    if (!program)
      return;
    std::optional<Activity> activity;
    if (program == "train")
      activity.emplace(function);
    SmallVector<Operation *> contractions;
    function.walk([&](Operation *op) {
      if (isa<ContractOp, GroupedContractOp>(op))
        contractions.push_back(op);
    });
    unsigned numDistributed = 0;
    for (Operation *op : contractions)
      if (std::optional<Match> match = findMatch(op);
          match && isCheaper(*match, activity ? &*activity : nullptr)) {
        distribute(*match);
        ++numDistributed;
      }
    TITAN_COUNT(distributedContractions, numDistributed);
  }
};

} // namespace
