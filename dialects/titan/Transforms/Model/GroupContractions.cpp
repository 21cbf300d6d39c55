// The pass --titan-group-contractions: contracts with gathered matrices without gathering them.

#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/RewriteEach.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Model/Passes.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANGROUPCONTRACTIONS
#include "dialects/titan/Transforms/Model/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

namespace {

/// A contraction of `rows` with the elements of a table that `gather` selects. `result` is its
/// type.
struct Match {
  Value rows;
  GatherOp gather;
  NamedTensorType result;

  bool isOfIndices(DimAttr dim) { return gather.getIndices().getType().hasDim(dim.getName()); }

  /// Whether every element is a matrix: it has summed dimensions, and dimensions of the result that
  /// the rows lack. Without the latter, the gathered tensor is no larger than the rows. The vectors
  /// of elements that are matrices elsewhere, such as biases, may have no summed dimensions if the
  /// contraction sums over indices.
  bool selectsMatrices() {
    bool hasSummed = sumsIndices() && selectsOtherMatrices(), hasFree = false;
    for (DimAttr dim : gather.getInput().getType().getDims()) {
      if (dim.getName() == gather.getAlongAttr() || isOfIndices(dim))
        continue;
      bool inRows = getTensorType(rows).hasDim(dim.getName()),
           inResult = result.hasDim(dim.getName());
      if (inRows && inResult)
        return false;
      hasSummed |= inRows;
      hasFree |= !inRows;
    }
    return hasSummed && hasFree;
  }

  bool sumsIndices() {
    return llvm::any_of(gather.getIndices().getType().getDims(),
                        [&](DimAttr dim) { return !result.hasDim(dim.getName()); });
  }

  bool selectsOtherMatrices() {
    return llvm::any_of(gather.getIndices().getUsers(),
                        [](Operation *user) { return isa<GroupedContractOp>(user); });
  }

  NamedTensorType getProductType() {
    return sumsIndices() ? result.withElementType(getAccumulationType(result.getElementType()))
                         : result;
  }
};

std::optional<Match> findMatch(ContractOp contract) {
  for (auto [element, rows] : {std::pair(contract.getRhs(), contract.getLhs()),
                               std::pair(contract.getLhs(), contract.getRhs())}) {
    Match match{rows, element.getDefiningOp<GatherOp>(), contract.getResult().getType()};
    if (match.gather && !contract.getInto() && match.selectsMatrices() &&
        isa<FloatType>(match.result.getElementType()))
      return match;
  }
  return std::nullopt;
}

class GroupContraction : public OpRewritePattern<ContractOp> {
public:
  GroupContraction(MLIRContext *context, unsigned &numGrouped)
      : OpRewritePattern(context), numGrouped(numGrouped) {}

  LogicalResult matchAndRewrite(ContractOp contract, PatternRewriter &rewriter) const override {
    std::optional<Match> match = findMatch(contract);
    if (!match)
      return failure();
    TensorBuilder builder(rewriter, contract.getLoc());
    auto product = builder.create<GroupedContractOp>(
        match->getProductType(), match->rows, match->gather.getInput(), match->gather.getIndices(),
        match->gather.getAlongAttr());
    // As a contraction, which rounds the term of each rank.
    Value sum = builder.cast(product, match->result.getElementType(), /*roundBeforeReduce=*/true);
    for (Operation *op : {product.getOperation(), sum.getDefiningOp()})
      op->setDiscardableAttrs(contract->getDiscardableAttrDictionary());
    rewriter.replaceOp(contract, sum);
    if (match->gather->use_empty())
      rewriter.eraseOp(match->gather);
    ++numGrouped;
    return success();
  }

private:
  unsigned &numGrouped;
};

struct GroupContractions : titan::ir::impl::TitanGroupContractionsBase<GroupContractions> {
  void runOnOperation() override {
    unsigned numGrouped = 0;
    RewritePatternSet patterns(&getContext());
    patterns.add<GroupContraction>(&getContext(), numGrouped);
    rewriteEach<ContractOp>(getOperation(), std::move(patterns));
    TITAN_COUNT(groupedContractions, numGrouped);
  }
};

} // namespace
