// Loops over chunks and microbatches.

#include "dialects/titan/Transforms/Gradient/Chunks.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/TensorBuilder.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

/// The one factor of all sliced dimensions; null if there is none or several.
static const dist::Factor *findFactor(Operation *op, const dist::ShardingRule &rule,
                                      GetDependence dependences) {
  const dist::Factor *found = nullptr;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    Dependence dependence = dependences(operand);
    if (dependence.kind != Dependence::Sliced)
      continue;
    const dist::Factor *here = nullptr;
    for (const dist::Factor &factor : rule.factors)
      if (factor.operandDims[i] == static_cast<int>(dependence.dim))
        here = &factor;
    if (!here || (found && found != here))
      return nullptr;
    found = here;
  }
  return found;
}

/// Whether a sliced dimension also occurs unsliced under the same name, such as the dimension of
/// keys in attention with sliced queries. In one operation, a name has one size.
static bool hasUnslicedDim(Operation *op, const dist::Factor &factor) {
  llvm::DenseSet<StringAttr> slicedNames;
  auto forEachDim = [&](auto visit) {
    auto see = [&](Value value, int at) {
      for (auto [i, dim] : llvm::enumerate(cast<NamedTensorType>(value.getType()).getDims()))
        visit(dim.getName(), static_cast<int>(i) == at);
    };
    for (auto [value, at] : llvm::zip_equal(op->getOperands(), factor.operandDims))
      see(value, at);
    for (auto [value, at] : llvm::zip_equal(op->getResults(), factor.resultDims))
      see(value, at);
  };
  forEachDim([&](StringAttr name, bool isSliced) {
    if (isSliced)
      slicedNames.insert(name);
  });
  bool stays = false;
  forEachDim(
      [&](StringAttr name, bool isSliced) { stays |= !isSliced && slicedNames.contains(name); });
  return stays;
}

bool titan::ir::mayChunkAlong(Operation *op, const dist::Factor &factor) {
  return !factor.isPositional || isa<PositionalOpInterface>(op);
}

std::optional<SmallVector<Dependence>> titan::ir::inferResults(Operation *op,
                                                               GetDependence dependences) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled)
    return std::nullopt;
  dist::ShardingRule rule = ruled.getShardingRule();
  const dist::Factor *factor = findFactor(op, rule, dependences);
  if (!factor || hasUnslicedDim(op, *factor) || !mayChunkAlong(op, *factor))
    return std::nullopt;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    Dependence::Kind kind = dependences(operand).kind;
    if (kind == Dependence::Accumulated || kind == Dependence::AfterAccumulation ||
        (factor->operandDims[i] >= 0 && kind != Dependence::Sliced))
      return std::nullopt;
  }
  SmallVector<Dependence> results;
  for (int at : factor->resultDims) {
    bool isSum = factor->kind == dist::FactorKind::Sum;
    if (!isSum && (factor->kind != dist::FactorKind::Parallel || at < 0))
      return std::nullopt;
    results.push_back(at < 0 ? Dependence{Dependence::Accumulated}
                             : Dependence{Dependence::Sliced, static_cast<unsigned>(at)});
  }
  return results;
}

NamedTensorType titan::ir::getChunkType(NamedTensorType type, unsigned at, int64_t chunks) {
  SmallVector<DimAttr> dims(type.getDims());
  dims[at] = DimAttr::get(type.getContext(), dims[at].getName(), dims[at].getSize() / chunks,
                          dims[at].getOrigin());
  return NamedTensorType::get(type.getElementType(), dims);
}

void ChunkBody::setChunkType(Value original, Value copy) const {
  Dependence slicing = dependences(original);
  if (slicing.kind == Dependence::Sliced)
    copy.setType(getChunkType(cast<NamedTensorType>(original.getType()), slicing.dim, chunks));
}

/// The sliced dimension of a result with its size before slicing, if the operation's results depend
/// on global indices along it.
DimAttr ChunkBody::getPositionalDim(Operation *original) const {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(original);
  if (!ruled)
    return {};
  for (const dist::Factor &factor : ruled.getShardingRule().factors)
    for (auto [result, at] : llvm::zip_equal(original->getResults(), factor.resultDims)) {
      Dependence slicing = dependences(result);
      if (factor.isPositional && slicing.kind == Dependence::Sliced &&
          at == static_cast<int>(slicing.dim))
        return cast<NamedTensorType>(result.getType()).getDims()[at];
    }
  return {};
}

void ChunkBody::setChunkTypes(Operation *original, Operation *copy) {
  for (auto [from, to] : llvm::zip_equal(original->getResults(), copy->getResults()))
    setChunkType(from, to);
  if (isa<PositionalOpInterface>(copy))
    if (DimAttr dim = getPositionalDim(original))
      positional.push_back({copy, dim});
  for (auto [from, to] : llvm::zip_equal(original->getRegions(), copy->getRegions())) {
    for (auto [a, b] : llvm::zip_equal(from.getArguments(), to.getArguments()))
      setChunkType(a, b);
    for (auto [a, b] : llvm::zip_equal(from.getOps(), to.getOps()))
      setChunkTypes(&a, &b);
  }
}

/// Starts are computed once for each size, at the top of the loop.
void ChunkBody::startAt(Value index) {
  llvm::DenseMap<int64_t, Value> starts;
  for (auto [op, dim] : positional) {
    Value &start = starts[dim.getSize()];
    if (!start) {
      OpBuilder top = OpBuilder::atBlockBegin(index.getParentBlock());
      TensorBuilder math(top, op->getLoc());
      start = math.mul(index, math.constant(static_cast<double>(dim.getSize() / chunks), index));
    }
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Value moved = cast<PositionalOpInterface>(op).startAt(builder, start, dim);
    op->getResult(0).replaceUsesWithIf(
        moved, [&](OpOperand &use) { return use.getOwner() != moved.getDefiningOp(); });
  }
}
