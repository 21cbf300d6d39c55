// Decomposes attention into scores, softmax and weighted sums.

#include "dialects/titan/Decomposition/Decomposition.h"
#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/TensorBuilder.h"

#include <limits>

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Attention by its definition: computes every score; masked scores are minus infinity.
class AttentionDefinition {
public:
  AttentionDefinition(AttentionOp op, OpBuilder &builder)
      : op(op), math(builder, op.getLoc()), rows(op.getLse().getType()),
        element(rows.getElementType()) {}

  SmallVector<Value> build() {
    Value scores = mask(scaleAndCap(multiply()));
    // Softmax is invariant to subtracting the same value from all scores, so the maximum has no
    // gradient.
    Value top = math.create<ReduceOp>(rows, dist::ReductionKind::Max, scores);
    top = math.create<StopGradientOp>(top);
    Value shifted = math.sub(scores, top);
    Value weights = math.create<ExpOp>(shifted);
    Value sum = math.create<ReduceOp>(rows, dist::ReductionKind::Sum, weights);
    Value lse = math.add(top, math.create<LogOp>(sum));
    NamedTensorType type = op.getResult().getType();
    Value values = math.cast(toKeys(op.getValue()), element);
    Value probabilities = math.div(weights, sum);
    Value result = math.create<ContractOp>(type.withElementType(element), probabilities, values);
    return {math.cast(result, type.getElementType()), lse};
  }

private:
  /// `value` indexed by the positions of keys instead of queries: the same positions under another
  /// dimension name.
  Value toKeys(Value value) {
    MLIRContext *context = op.getContext();
    NamedTensorType type = getTensorType(value);
    SmallVector<DimAttr> dims(type.getDims());
    DimAttr &along = dims[type.findDimIndex(op.getAlongAttr())];
    along = DimAttr::get(context, StringAttr::get(context, op.getAlong() + ".keys"),
                         along.getSize(), op.getAlongAttr());
    return math.create<RenameOp>(NamedTensorType::get(type.getElementType(), dims), value);
  }

  /// Products of queries and keys.
  Value multiply() {
    Value key = toKeys(op.getKey());
    SmallVector<DimAttr> dims(rows.getDims());
    for (DimAttr dim : getTensorType(key).getDims())
      if (dim.getOrigin() == op.getAlongAttr() && !rows.hasDim(dim.getName()))
        dims.push_back(dim);
    return math.create<ContractOp>(NamedTensorType::get(element, dims), op.getQuery(), key);
  }

  /// Scores from products: scaled, and bounded by the soft cap if there is one.
  Value scaleAndCap(Value products) {
    double scale = op.getScale().convertToDouble();
    if (!op.getSoftCap())
      return math.scale(products, scale);
    double cap = op.getSoftCap()->convertToDouble();
    Value scaled = math.scale(products, scale / cap);
    return math.scale(math.create<TanhOp>(scaled), cap);
  }

  Value mask(Value scores) {
    if (op.getCausal() || op.getWindow())
      scores = maskByDistance(scores);
    if (Value documents = op.getDocuments())
      scores = hide(scores, math.compare(ComparePredicate::EQ, getQueryDocuments(documents),
                                         toKeys(documents)));
    return scores;
  }

  /// The indices 0, 1, ... of the dimension `along` of `type`.
  Value getPositions(NamedTensorType type) {
    return math.create<IotaOp>(
        NamedTensorType::get(IntegerType::get(op.getContext(), 64),
                             type.getDims()[type.findDimIndex(op.getAlongAttr())]));
  }
  /// The positions of queries, which begin at the start of their chunk.
  Value getQueryPositions() {
    Value positions = getPositions(rows);
    return op.getStart() ? math.add(positions, op.getStart()) : positions;
  }

  /// The document numbers at the positions of the queries. `documents` has those of all keys.
  Value getQueryDocuments(Value documents) {
    if (!op.getStart())
      return documents;
    Value whole = toKeys(documents), positions = getQueryPositions();
    StringAttr keys = StringAttr::get(op.getContext(), op.getAlong() + ".keys");
    SmallVector<DimAttr> dims(getTensorType(documents).getDims());
    dims.erase(dims.begin() + getTensorType(documents).findDimIndex(op.getAlongAttr()));
    for (DimAttr dim : getTensorType(positions).getDims())
      if (!getTensorType(documents).hasDim(dim.getName()) || dim.getName() == op.getAlongAttr())
        dims.push_back(dim);
    return math.create<GatherOp>(
        NamedTensorType::get(getTensorType(documents).getElementType(), dims), whole, positions,
        keys);
  }
  Value maskByDistance(Value scores) {
    Value keys = toKeys(getPositions(op.getKey().getType()));
    Value before = math.sub(getQueryPositions(), keys); // distance of a key before its query
    if (op.getCausal())
      scores = hide(scores, math.compare(ComparePredicate::GE, before, math.constant(0, before)));
    if (std::optional<int64_t> window = op.getWindow()) {
      auto size = static_cast<double>(*window);
      scores =
          hide(scores, math.compare(ComparePredicate::LT, before, math.constant(size, before)));
      scores =
          hide(scores, math.compare(ComparePredicate::GT, before, math.constant(-size, before)));
    }
    return scores;
  }
  /// `scores` where `isVisible`, else minus infinity.
  Value hide(Value scores, Value isVisible) {
    Value hidden = math.constant(-std::numeric_limits<double>::infinity(), scores);
    return math.select(isVisible, scores, hidden);
  }

  AttentionOp op;
  TensorBuilder math;
  NamedTensorType rows; ///< queries without `head`
  Type element;         ///< of scores and sums
};

struct AttentionModel : DecomposableOpInterface::ExternalModel<AttentionModel, AttentionOp> {
  SmallVector<Value> decompose(Operation *op, OpBuilder &builder) const {
    return AttentionDefinition(cast<AttentionOp>(op), builder).build();
  }
};

} // namespace

void titan::ir::attachAttentionDecomposition(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionModel>(context);
}
