// Evaluates attention and its gradient.

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/Evaluation/IndexSpace.h"

#include <limits>

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Shared by attention and its gradient: the index space without positions and heads, and the
/// strides along those. Queries and keys may have different ranges of positions.
class AttentionWalk {
public:
  /// Indexed by positions of queries, of keys, or (documents) of both.
  enum Side { Queries, Keys, Documents };

  template <typename Op>
  AttentionWalk(Op op, const RankShards &shards)
      : op(op), along(op.getAlongAttr()), heads{op.getHeadAttr(), op.getValueHead().getName()},
        scale(op.getScale().convertToDouble()), causal(op.getCausal()), window(op.getWindow()),
        cap(op.getSoftCap() ? op.getSoftCap()->convertToDouble() : 0), shards(shards) {}

  /// Adds an operand or result; tensors are numbered in the order of their addition. Emits an error
  /// at the operation if a head is sharded, or if tensors have different shards of an outer
  /// dimension.
  LogicalResult add(Value value, const HostTensor &tensor, Side side);
  /// Sets the positions of keys, after the addition of all tensors. `step`: the step of a ring, as
  /// stored in the operand; null if this rank has all keys.
  template <typename Op>
  LogicalResult setKeyPositions(Op op, const HostTensor &keys, const double *step);

  struct Tensor {
    std::vector<int64_t> strides;             ///< along each outer dimension
    int64_t position = 0, head = 0, size = 1; ///< strides; elements along its head
  };

  /// Calls visit(offsets) for every index of the outer dimensions; offsets[t] is the element offset
  /// of tensor number t.
  template <typename Visit> void walk(Visit visit) const;

  /// The data that determine the mask of an outer point.
  struct Mask {
    const double *documents; ///< null: none
    int64_t start;           ///< of the chunk of queries
  };
  /// True if query i of this rank attends to key j.
  bool isVisible(int64_t i, int64_t j, const Mask &mask) const {
    int64_t query = mask.start + positions[Queries].toGlobal(i), key = positions[Keys].toGlobal(j);
    auto document = [&](int64_t position) {
      return mask.documents[positions[Documents].toLocal(position) * documentStride];
    };
    return (!causal || query >= key) && (!window || std::abs(query - key) < *window) &&
           (!mask.documents || document(query) == document(key));
  }
  /// The score from a product of query and key, and the derivative of the score.
  double getScore(double product) const {
    return cap > 0 ? cap * std::tanh(scale * product / cap) : scale * product;
  }
  double getSlope(double score) const {
    return cap > 0 ? scale * (1 - score / cap * score / cap) : scale;
  }

  Operation *op;
  StringAttr along, heads[2];
  double scale;
  bool causal;
  std::optional<int64_t> window;
  double cap; ///< 0: none
  const RankShards &shards;
  std::vector<LocalDim> outer;
  std::vector<Tensor> tensors;
  int64_t counts[3] = {0, 0, 0}; ///< by side
  DimShard positions[3];         ///< by side, the local-to-global index of positions
  int64_t documentStride = 0;
};

LogicalResult AttentionWalk::add(Value value, const HostTensor &tensor, Side side) {
  auto type = cast<NamedTensorType>(value.getType());
  if (type.getShardingOrReplicated().isFlat())
    return op->emitOpError("does not work on flat storage");
  std::vector<LocalDim> dims = getLocalDims(type, tensor, shards);
  Tensor added;
  added.strides.assign(outer.size(), 0);
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i].size) {
    const LocalDim &dim = dims[i];
    if (dim.name == along.getValue()) {
      added.position = stride;
      counts[side] = dim.size;
      positions[side] = dim.shard;
      continue;
    }
    auto head = llvm::find_if(heads, [&](StringAttr name) { return name.getValue() == dim.name; });
    if (head != std::end(heads)) {
      if (failed(checkWhole(op, value, tensor, *head)))
        return failure();
      added.head = stride;
      added.size = dim.size;
      continue;
    }
    auto known = llvm::find_if(outer, [&](const LocalDim &d) { return d.name == dim.name; });
    if (known == outer.end()) {
      outer.push_back(dim);
      added.strides.push_back(stride);
      continue;
    }
    if (known->size != dim.size || known->shard != dim.shard)
      return op->emitOpError("matches different shards of dimension \"") << dim.name << '"';
    added.strides[known - outer.begin()] = stride;
  }
  if (side == Documents)
    documentStride = added.position;
  tensors.push_back(added);
  return success();
}

template <typename Op>
LogicalResult AttentionWalk::setKeyPositions(Op op, const HostTensor &keys, const double *step) {
  if (!step)
    return checkWhole(op, op.getKey(), keys, along);
  NamedTensorType type = op.getKey().getType();
  positions[Keys] = shards.getShard(type, type.findDimIndex(along), static_cast<int64_t>(*step));
  return success();
}

template <typename Visit> void AttentionWalk::walk(Visit visit) const {
  int64_t points = 1;
  for (const LocalDim &dim : outer)
    points *= dim.size;
  std::vector<int64_t> offsets(tensors.size());
  for (int64_t point = 0; point < points; ++point) {
    for (size_t t = 0; t < tensors.size(); ++t) {
      offsets[t] = 0;
      int64_t rest = point;
      for (size_t d = outer.size(); d-- > 0; rest /= outer[d].size)
        if (d < tensors[t].strides.size())
          offsets[t] += rest % outer[d].size * tensors[t].strides[d];
    }
    visit(offsets);
  }
}

/// The step of a ring; null if the operation is no step of a ring.
template <typename Op> const double *getRingStep(Op op, ArrayRef<const HostTensor *> operands) {
  if (!op.getRingStep())
    return nullptr;
  return operands[op.getRingStepMutable()[0].getOperandNumber()]->data.data();
}

double dot(const double *a, int64_t aStride, const double *b, int64_t bStride, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i)
    sum += a[i * aStride] * b[i * bStride];
  return sum;
}

void addScaled(double factor, const double *from, int64_t fromStride, double *to, int64_t toStride,
               int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    to[i * toStride] += factor * from[i * fromStride];
}

struct AttentionModel : EvaluableOpInterface::ExternalModel<AttentionModel, AttentionOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &shards) const {
    using Walk = AttentionWalk;
    auto attention = cast<AttentionOp>(op);
    Walk space(attention, shards);
    if (failed(space.add(attention.getQuery(), *operands[0], Walk::Queries)) ||
        failed(space.add(attention.getKey(), *operands[1], Walk::Keys)) ||
        failed(space.add(attention.getValue(), *operands[2], Walk::Keys)) ||
        failed(space.add(attention.getResult(), results[0], Walk::Queries)) ||
        failed(space.add(attention.getLse(), results[1], Walk::Queries)) ||
        (attention.getDocuments() &&
         failed(space.add(attention.getDocuments(), *operands[3], Walk::Documents))) ||
        (attention.getStart() &&
         failed(space.add(attention.getStart(), *operands.back(), Walk::Queries))) ||
        failed(space.setKeyPositions(attention, *operands[1], getRingStep(attention, operands))))
      return failure();
    std::fill(results[0].data.begin(), results[0].data.end(), 0.0);
    // Tensors: 0 to 4 are q, k, v, the result and lse; then documents and the start, if given.
    space.walk([&](const std::vector<int64_t> &at) {
      const Walk::Mask mask{
          attention.getDocuments() ? operands[3]->data.data() + at[5] : nullptr,
          attention.getStart() ? static_cast<int64_t>(operands.back()->data[at.back()]) : 0};
      for (int64_t i = 0; i < space.counts[Walk::Queries]; ++i)
        attend(space, i, mask, operands, results, at);
    });
    return success();
  }

  /// One query against all visible keys.
  static void attend(const AttentionWalk &space, int64_t i, const AttentionWalk::Mask &mask,
                     ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results,
                     const std::vector<int64_t> &at) {
    const auto &q = space.tensors[0], &k = space.tensors[1], &v = space.tensors[2],
               &y = space.tensors[3], &lse = space.tensors[4];
    const double *query = operands[0]->data.data() + at[0] + i * q.position;
    double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
    int64_t keys = space.counts[AttentionWalk::Keys];
    std::vector<double> scores(keys, greatest);
    for (int64_t j = 0; j < keys; ++j)
      if (space.isVisible(i, j, mask)) {
        const double *key = operands[1]->data.data() + at[1] + j * k.position;
        scores[j] = space.getScore(dot(query, q.head, key, k.head, q.size));
        greatest = std::max(greatest, scores[j]);
      }
    if (std::isinf(greatest)) { // no visible key in this step of a ring
      results[1].data[at[4] + i * lse.position] = greatest;
      return;
    }
    for (int64_t j = 0; j < keys; ++j)
      sum += std::exp(scores[j] - greatest);
    results[1].data[at[4] + i * lse.position] = greatest + std::log(sum);
    double *out = results[0].data.data() + at[3] + i * y.position;
    for (int64_t j = 0; j < keys; ++j)
      if (space.isVisible(i, j, mask))
        addScaled(std::exp(scores[j] - greatest) / sum,
                  operands[2]->data.data() + at[2] + j * v.position, v.head, out, y.head, v.size);
  }
};

/// Dao et al., arXiv 2205.14135, appendix B.2, with D_i = sum of dO_i O_i, less the lse cotangent:
/// the derivative of lse by a score is the probability of the score.
struct AttentionGradModel
    : EvaluableOpInterface::ExternalModel<AttentionGradModel, AttentionGradOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &shards) const {
    using Walk = AttentionWalk;
    auto grad = cast<AttentionGradOp>(op);
    Walk space(grad, shards);
    // dy, q, k, v, y, lse, then dq, dk, dv. Queries come first, because they have all dimensions.
    constexpr Walk::Side sides[9] = {Walk::Queries, Walk::Queries, Walk::Keys,
                                     Walk::Keys,    Walk::Queries, Walk::Queries,
                                     Walk::Queries, Walk::Keys,    Walk::Keys};
    for (int t = 0; t < 9; ++t) {
      Value value = t < 6 ? op->getOperand(t) : op->getResult(t - 6);
      if (failed(space.add(value, t < 6 ? *operands[t] : results[t - 6], sides[t])))
        return failure();
    }
    unsigned next = 6;
    if (grad.getLseCotangent() &&
        failed(space.add(grad.getLseCotangent(), *operands[next++], Walk::Queries)))
      return failure();
    if (grad.getDocuments() &&
        failed(space.add(grad.getDocuments(), *operands[next], Walk::Documents)))
      return failure();
    if (failed(space.setKeyPositions(grad, *operands[2], getRingStep(grad, operands))))
      return failure();
    for (HostTensor &result : results)
      std::fill(result.data.begin(), result.data.end(), 0.0);
    space.walk([&](const std::vector<int64_t> &at) {
      for (int64_t i = 0; i < space.counts[Walk::Queries]; ++i)
        differentiate(space, grad, i, operands, results, at);
    });
    return success();
  }

  /// Adds the terms of query i to its cotangent and to those of the visible keys and values.
  static void differentiate(const AttentionWalk &space, AttentionGradOp grad, int64_t i,
                            ArrayRef<const HostTensor *> operands,
                            MutableArrayRef<HostTensor> results, const std::vector<int64_t> &at) {
    // Tensors are numbered in the order of their addition: 6 to 8 are results, optional operands
    // start at 9.
    auto row = [&](int t, int64_t position) {
      return operands[t < 6 ? t : t - 3]->data.data() + at[t] +
             position * space.tensors[t].position;
    };
    auto resultRow = [&](int t, int64_t position) {
      return results[t - 6].data.data() + at[t] + position * space.tensors[t].position;
    };
    auto stride = [&](int t) { return space.tensors[t].head; };
    int64_t head = space.tensors[1].size, valueHead = space.tensors[3].size;
    double delta = dot(row(0, i), stride(0), row(4, i), stride(4), valueHead);
    if (grad.getLseCotangent())
      delta -= *row(9, i);
    int documentsAt = grad.getLseCotangent() ? 10 : 9;
    const double *documents = grad.getDocuments() ? row(documentsAt, 0) : nullptr;
    double lse = *row(5, i);
    for (int64_t j = 0; j < space.counts[AttentionWalk::Keys]; ++j) {
      if (!space.isVisible(i, j, {documents, 0}))
        continue;
      double score = space.getScore(dot(row(1, i), stride(1), row(2, j), stride(2), head));
      double p = std::exp(score - lse);
      double dp = dot(row(0, i), stride(0), row(3, j), stride(3), valueHead);
      double ds = space.getSlope(score) * p * (dp - delta);
      addScaled(ds, row(2, j), stride(2), resultRow(6, i), stride(6), head);
      addScaled(ds, row(1, i), stride(1), resultRow(7, j), stride(7), head);
      addScaled(p, row(0, i), stride(0), resultRow(8, j), stride(8), valueHead);
    }
  }
};

} // namespace

void ir::attachAttentionEvaluation(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionModel>(context);
  AttentionGradOp::attachInterface<AttentionGradModel>(context);
}
