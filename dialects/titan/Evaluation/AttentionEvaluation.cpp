//===- AttentionEvaluation.cpp - Attention and its gradient ---------------===//

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/Evaluation/IndexSpace.h"

#include <limits>

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// What attention and its gradient share: the space of everything but positions and `head`, and the
/// strides along those two. Queries and keys may hold different ranges of positions.
class AttentionWalk {
public:
  AttentionWalk(Operation *op, StringAttr along, StringAttr head, double scale, bool causal,
                const RankPlace &place)
      : op(op), along(along), head(head), scale(scale), causal(causal), place(place) {}

  /// Adds a tensor that walks the queries' positions (`isQuery`) or the keys'.
  LogicalResult add(Value value, const HostTensor &tensor, bool isQuery);

  struct Tensor {
    std::vector<int64_t> strides; ///< per outer dimension
    int64_t position, head;       ///< strides
  };

  /// Calls visit(offsets) for every outer point, offsets being those of the tensors as added.
  template <typename Visit> void walk(Visit visit) const;

  bool isVisible(int64_t query, int64_t key) const {
    return !causal || queryOffset + query >= keyOffset + key;
  }

  Operation *op;
  StringAttr along, head;
  double scale;
  bool causal;
  const RankPlace &place;
  std::vector<LocalDim> outer;
  std::vector<Tensor> tensors;
  int64_t queries = 0, keys = 0, headSize = 0, queryOffset = 0, keyOffset = 0;
};

LogicalResult AttentionWalk::add(Value value, const HostTensor &tensor, bool isQuery) {
  auto type = cast<NamedTensorType>(value.getType());
  if (type.getShardingOrReplicated().isFlat())
    return op->emitOpError("does not work on flat storage");
  std::vector<LocalDim> dims = getLocalDims(type, tensor, place);
  Tensor added{std::vector<int64_t>(outer.size(), 0), 0, 0};
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i].size) {
    const LocalDim &dim = dims[i];
    if (dim.name == along.getValue()) {
      added.position = stride;
      (isQuery ? queries : keys) = dim.size;
      (isQuery ? queryOffset : keyOffset) = dim.offset;
      continue;
    }
    if (dim.name == head.getValue()) {
      if (failed(checkWhole(op, value, tensor, head)))
        return failure();
      added.head = stride;
      headSize = dim.size;
      continue;
    }
    auto known = llvm::find_if(outer, [&](const LocalDim &d) { return d.name == dim.name; });
    if (known == outer.end()) {
      outer.push_back(dim);
      added.strides.push_back(stride);
      continue;
    }
    if (known->size != dim.size || known->offset != dim.offset)
      return op->emitOpError("joins different parts of dimension \"") << dim.name << '"';
    added.strides[known - outer.begin()] = stride;
  }
  tensors.push_back(added);
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
                         MutableArrayRef<HostTensor> results, const RankPlace &place) const {
    auto attention = cast<AttentionOp>(op);
    AttentionWalk w(op, attention.getAlongAttr(), attention.getHeadAttr(),
                    attention.getScale().convertToDouble(), attention.getCausal(), place);
    if (failed(w.add(attention.getQuery(), *operands[0], true)) ||
        failed(w.add(attention.getKey(), *operands[1], false)) ||
        failed(w.add(attention.getValue(), *operands[2], false)) ||
        failed(w.add(attention.getResult(), results[0], true)) ||
        failed(w.add(attention.getLse(), results[1], true)))
      return failure();
    std::fill(results[0].data.begin(), results[0].data.end(), 0.0);
    w.walk([&](const std::vector<int64_t> &at) {
      for (int64_t i = 0; i < w.queries; ++i)
        attend(w, i, operands, results, at);
    });
    return success();
  }

  /// One query against all keys that it sees.
  static void attend(const AttentionWalk &w, int64_t i, ArrayRef<const HostTensor *> operands,
                     MutableArrayRef<HostTensor> results, const std::vector<int64_t> &at) {
    const auto &q = w.tensors[0], &k = w.tensors[1], &v = w.tensors[2], &y = w.tensors[3],
               &lse = w.tensors[4];
    const double *query = operands[0]->data.data() + at[0] + i * q.position;
    double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
    std::vector<double> scores(w.keys, greatest);
    for (int64_t j = 0; j < w.keys; ++j)
      if (w.isVisible(i, j)) {
        const double *key = operands[1]->data.data() + at[1] + j * k.position;
        scores[j] = w.scale * dot(query, q.head, key, k.head, w.headSize);
        greatest = std::max(greatest, scores[j]);
      }
    for (int64_t j = 0; j < w.keys; ++j)
      if (w.isVisible(i, j))
        sum += std::exp(scores[j] - greatest);
    results[1].data[at[4] + i * lse.position] = greatest + std::log(sum);
    double *out = results[0].data.data() + at[3] + i * y.position;
    for (int64_t j = 0; j < w.keys; ++j)
      if (w.isVisible(i, j))
        addScaled(std::exp(scores[j] - greatest) / sum,
                  operands[2]->data.data() + at[2] + j * v.position, v.head, out, y.head,
                  w.headSize);
  }
};

/// Dao et al., arXiv 2205.14135, appendix B.2, with D_i = sum of dO_i O_i.
struct AttentionGradModel
    : EvaluableOpInterface::ExternalModel<AttentionGradModel, AttentionGradOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankPlace &place) const {
    auto grad = cast<AttentionGradOp>(op);
    AttentionWalk w(op, grad.getAlongAttr(), grad.getHeadAttr(), grad.getScale().convertToDouble(),
                    grad.getCausal(), place);
    // dy, q, k, v, y, lse, then dq, dk, dv. The queries come first, since they have all dimensions.
    constexpr bool isQuery[9] = {true, true, false, false, true, true, true, false, false};
    for (int t = 0; t < 9; ++t) {
      Value value = t < 6 ? op->getOperand(t) : op->getResult(t - 6);
      if (failed(w.add(value, t < 6 ? *operands[t] : results[t - 6], isQuery[t])))
        return failure();
    }
    for (HostTensor &result : results)
      std::fill(result.data.begin(), result.data.end(), 0.0);
    w.walk([&](const std::vector<int64_t> &at) {
      for (int64_t i = 0; i < w.queries; ++i)
        differentiate(w, i, operands, results, at);
    });
    return success();
  }

  static void differentiate(const AttentionWalk &w, int64_t i,
                            ArrayRef<const HostTensor *> operands,
                            MutableArrayRef<HostTensor> results, const std::vector<int64_t> &at) {
    auto row = [&](int t, int64_t position) {
      return operands[t]->data.data() + at[t] + position * w.tensors[t].position;
    };
    auto resultRow = [&](int t, int64_t position) {
      return results[t - 6].data.data() + at[t] + position * w.tensors[t].position;
    };
    auto stride = [&](int t) { return w.tensors[t].head; };
    double delta = dot(row(0, i), stride(0), row(4, i), stride(4), w.headSize);
    double lse = *row(5, i);
    for (int64_t j = 0; j < w.keys; ++j) {
      if (!w.isVisible(i, j))
        continue;
      double score = w.scale * dot(row(1, i), stride(1), row(2, j), stride(2), w.headSize);
      double p = std::exp(score - lse);
      double dp = dot(row(0, i), stride(0), row(3, j), stride(3), w.headSize);
      double ds = w.scale * p * (dp - delta);
      addScaled(ds, row(2, j), stride(2), resultRow(6, i), stride(6), w.headSize);
      addScaled(ds, row(1, i), stride(1), resultRow(7, j), stride(7), w.headSize);
      addScaled(p, row(0, i), stride(0), resultRow(8, j), stride(8), w.headSize);
    }
  }
};

} // namespace

void ir::attachAttentionEvaluation(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionModel>(context);
  AttentionGradOp::attachInterface<AttentionGradModel>(context);
}
