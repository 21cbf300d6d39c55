// Evaluates contractions and reductions.

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/Evaluation/IndexSpace.h"
#include "dialects/titan/Support/Reductions.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// The role of a dimension in the equivalent batched matrix product.
enum class Kind { Batch, Row, Column, Sum };

/// Sizes and strides of all dimensions of one kind, flattened into one axis.
struct Axis {
  int64_t size = 1;
  std::vector<int64_t> sizes;
  /// Element offset of position `index` of the flattened axis.
  int64_t locate(int64_t index, const std::vector<int64_t> &strides) const {
    int64_t offset = 0;
    for (size_t d = sizes.size(); d-- > 0; index /= sizes[d])
      offset += index % sizes[d] * strides[d];
    return offset;
  }
};

/// A table of element offsets along a flattened axis.
std::vector<int64_t> tabulate(const Axis &axis, const std::vector<int64_t> &strides) {
  std::vector<int64_t> offsets(axis.size);
  for (int64_t i = 0; i < axis.size; ++i)
    offsets[i] = axis.locate(i, strides);
  return offsets;
}

/// A contraction as a batched matrix product.
struct Contraction {
  Axis axes[4];
  /// strides[tensor][kind] for lhs, rhs and result.
  std::vector<int64_t> strides[3][4];

  std::vector<int64_t> offsets(int tensor, Kind kind) const {
    int k = static_cast<int>(kind);
    return tabulate(axes[k], strides[tensor][k]);
  }
  int64_t size(Kind kind) const { return axes[static_cast<int>(kind)].size; }
};

/// Assigns each dimension of `space` to the batch, rows, columns or sum of a batched matrix
/// product. `strides` are those of lhs, rhs and result; the lists say which dimensions each of
/// these has.
Contraction classify(const IndexSpace &space, const std::vector<int64_t> (&strides)[3],
                     ArrayRef<bool> inLhs, ArrayRef<bool> inRhs, ArrayRef<bool> inResult) {
  Contraction c;
  for (int64_t d = 0; d < space.getRank(); ++d) {
    Kind kind = !inResult[d]           ? Kind::Sum
                : inLhs[d] && inRhs[d] ? Kind::Batch
                : inLhs[d]             ? Kind::Row
                                       : Kind::Column;
    int k = static_cast<int>(kind);
    c.axes[k].size *= space.getDim(d).size;
    c.axes[k].sizes.push_back(space.getDim(d).size);
    for (int t = 0; t < 3; ++t)
      c.strides[t][k].push_back(strides[t][d]);
  }
  return c;
}

/// out[m, n] = sum over k of a[m, k] b[k, n], all contiguous. Rows of b stay in the cache for a
/// block of rows of a. Every sum runs over k in order, so blocking does not change the result.
void multiply(const double *a, const double *b, double *out, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kBlock = 64, nBlock = 256;
  std::fill(out, out + m * n, 0.0);
  for (int64_t n0 = 0; n0 < n; n0 += nBlock)
    for (int64_t k0 = 0; k0 < k; k0 += kBlock)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t l = k0; l < std::min(k, k0 + kBlock); ++l) {
          double factor = a[i * k + l];
          const double *row = b + l * n;
          for (int64_t j = n0, end = std::min(n, n0 + nBlock); j < end; ++j)
            out[i * n + j] += factor * row[j];
        }
}

void runContraction(const Contraction &c, const HostTensor &lhs, const HostTensor &rhs,
                    HostTensor &result) {
  int64_t m = c.size(Kind::Row), n = c.size(Kind::Column), k = c.size(Kind::Sum);
  auto rows = c.offsets(0, Kind::Row), lhsSum = c.offsets(0, Kind::Sum);
  auto columns = c.offsets(1, Kind::Column), rhsSum = c.offsets(1, Kind::Sum);
  auto outRows = c.offsets(2, Kind::Row), outColumns = c.offsets(2, Kind::Column);
  auto lhsBatch = c.offsets(0, Kind::Batch), rhsBatch = c.offsets(1, Kind::Batch),
       outBatch = c.offsets(2, Kind::Batch);
  std::vector<double> a(m * k), b(k * n), out(m * n);
  for (int64_t batch = 0; batch < c.size(Kind::Batch); ++batch) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t l = 0; l < k; ++l)
        a[i * k + l] = lhs.data[lhsBatch[batch] + rows[i] + lhsSum[l]];
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j)
        b[l * n + j] = rhs.data[rhsBatch[batch] + rhsSum[l] + columns[j]];
    multiply(a.data(), b.data(), out.data(), m, n, k);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        result.data[outBatch[batch] + outRows[i] + outColumns[j]] = out[i * n + j];
  }
}

/// For each dimension of `space`, whether the tensor has it. Compares names, because a dimension
/// of size 1 also has stride 0.
SmallVector<bool> getPresence(const IndexSpace &space, Value value, const HostTensor &tensor,
                              const RankShards &shards) {
  SmallVector<bool> present(space.getRank(), false);
  for (const LocalDim &dim : getLocalDims(cast<NamedTensorType>(value.getType()), tensor, shards))
    for (int64_t d = 0; d < space.getRank(); ++d)
      present[d] = present[d] || space.getDim(d).name == dim.name;
  return present;
}

struct ContractModel : EvaluableOpInterface::ExternalModel<ContractModel, ContractOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &shards) const {
    Value values[3] = {op->getOperand(0), op->getOperand(1), op->getResult(0)};
    const HostTensor *tensors[3] = {operands[0], operands[1], &results[0]};
    IndexSpace space(op, shards);
    for (int t = 0; t < 3; ++t)
      if (failed(space.join(values[t], *tensors[t])))
        return failure();
    std::vector<int64_t> strides[3];
    SmallVector<bool> present[3];
    for (int t = 0; t < 3; ++t) {
      strides[t] = space.getStrides(values[t], *tensors[t]);
      present[t] = getPresence(space, values[t], *tensors[t], shards);
    }
    for (int64_t d = 0; d < space.getRank(); ++d)
      if (present[0][d] + present[1][d] + present[2][d] < 2)
        return op->emitOpError("only one tensor holds \"") << space.getDim(d).name << '"';
    runContraction(classify(space, strides, present[0], present[1], present[2]), *operands[0],
                   *operands[1], results[0]);
    if (cast<ContractOp>(op).getInto())
      for (auto [sum, term] : llvm::zip_equal(results[0].data, operands[2]->data))
        sum += term;
    return success();
  }
};

struct ReduceModel : EvaluableOpInterface::ExternalModel<ReduceModel, ReduceOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &shards) const {
    IndexSpace space(op, shards);
    if (failed(space.join(op->getOperand(0), *operands[0])) ||
        failed(space.join(op->getResult(0), results[0])))
      return failure();
    if (space.getNumElements() != static_cast<int64_t>(operands[0]->data.size()))
      return op->emitOpError("the result has a dimension that the operand lacks on this rank");
    dist::ReductionKind kind = cast<ReduceOp>(op).getKind();
    std::fill(results[0].data.begin(), results[0].data.end(), getNeutral(kind));
    int64_t at = 0;
    space.walk({space.getStrides(op->getResult(0), results[0])}, [&](const auto &offsets) {
      double &sum = results[0].data[offsets[0]];
      sum = combine(kind, sum, operands[0]->data[at++]);
    });
    return success();
  }
};

} // namespace

void ir::attachContractionEvaluation(MLIRContext &context) {
  ContractOp::attachInterface<ContractModel>(context);
  ReduceOp::attachInterface<ReduceModel>(context);
}
