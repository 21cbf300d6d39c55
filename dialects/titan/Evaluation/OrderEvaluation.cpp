// Evaluates top-k, cumulative sums and counts.

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/Evaluation/IndexSpace.h"

#include <numeric>

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// The rows of a row-major tensor along dimension `at`: element i of a row is at first + i *
/// stride.
struct Rows {
  Rows(const HostTensor &tensor, int64_t at) : size(tensor.shape[at]) {
    for (size_t d = at + 1; d < tensor.shape.size(); ++d)
      stride *= tensor.shape[d];
    count = tensor.data.size() / size;
  }
  int64_t getFirst(int64_t row) const { return row / stride * stride * size + row % stride; }
  int64_t size, stride = 1, count;
};

struct TopKModel : EvaluableOpInterface::ExternalModel<TopKModel, TopKOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &) const {
    auto topK = cast<TopKOp>(op);
    if (failed(checkWhole(op, topK.getInput(), *operands[0], topK.getAlongAttr())))
      return failure();
    int64_t at = topK.getInput().getType().findDimIndex(topK.getAlongAttr());
    Rows from(*operands[0], at), to(results[0], at);
    std::vector<int64_t> order(from.size);
    for (int64_t row = 0; row < from.count; ++row) {
      const double *elements = operands[0]->data.data() + from.getFirst(row);
      std::iota(order.begin(), order.end(), 0);
      llvm::stable_sort(order, [&](int64_t i, int64_t j) {
        return elements[i * from.stride] > elements[j * from.stride];
      });
      for (int64_t c = 0; c < to.size; ++c) {
        int64_t index = to.getFirst(row) + c * to.stride;
        results[0].data[index] = elements[order[c] * from.stride];
        results[1].data[index] = static_cast<double>(order[c]);
      }
    }
    return success();
  }
};

struct CumulativeSumModel
    : EvaluableOpInterface::ExternalModel<CumulativeSumModel, CumulativeSumOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &) const {
    auto sums = cast<CumulativeSumOp>(op);
    if (failed(checkWhole(op, sums.getInput(), *operands[0], sums.getAlongAttr())))
      return failure();
    Rows rows(*operands[0], sums.getInput().getType().findDimIndex(sums.getAlongAttr()));
    for (int64_t row = 0; row < rows.count; ++row) {
      double total = 0;
      for (int64_t i = 0; i < rows.size; ++i) {
        int64_t element = sums.getReverse() ? rows.size - 1 - i : i;
        int64_t index = rows.getFirst(row) + element * rows.stride;
        total += operands[0]->data[index];
        results[0].data[index] = total;
      }
    }
    return success();
  }
};

struct CumulativeCountModel
    : EvaluableOpInterface::ExternalModel<CumulativeCountModel, CumulativeCountOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &) const {
    auto counts = cast<CumulativeCountOp>(op);
    NamedTensorType type = counts.getInput().getType();
    // The dimensions in the order of the walk: the counted ones are the innermost.
    SmallVector<int64_t> order;
    for (int64_t at = 0; at < type.getRank(); ++at)
      if (!llvm::is_contained(counts.getOver(), type.getDims()[at].getName()))
        order.push_back(at);
    int64_t row = 1;
    for (auto dim : counts.getOver().getAsRange<StringAttr>()) {
      if (failed(checkWhole(op, counts.getInput(), *operands[0], dim)))
        return failure();
      order.push_back(type.findDimIndex(dim));
      row *= operands[0]->shape[order.back()];
    }
    std::vector<int64_t> seen(counts.getSize());
    const auto numIndices = static_cast<int64_t>(seen.size());
    const auto size = static_cast<int64_t>(operands[0]->data.size());
    for (int64_t i = 0; i < size; ++i) {
      if (i % row == 0)
        std::fill(seen.begin(), seen.end(), 0);
      int64_t at = getOffset(operands[0]->shape, order, i);
      auto index = static_cast<int64_t>(operands[0]->data[at]);
      bool isInside = index >= 0 && index < numIndices;
      results[0].data[at] = isInside ? static_cast<double>(seen[index]++) : 0.0;
    }
    return success();
  }

private:
  /// The offset in a row-major tensor of element `i` of a walk in the order of its dimensions.
  static int64_t getOffset(ArrayRef<int64_t> shape, ArrayRef<int64_t> order, int64_t i) {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;)
      strides[d - 1] = strides[d] * shape[d];
    int64_t offset = 0;
    for (int64_t at : llvm::reverse(order)) {
      offset += i % shape[at] * strides[at];
      i /= shape[at];
    }
    return offset;
  }
};

} // namespace

void ir::attachOrderEvaluation(MLIRContext &context) {
  TopKOp::attachInterface<TopKModel>(context);
  CumulativeSumOp::attachInterface<CumulativeSumModel>(context);
  CumulativeCountOp::attachInterface<CumulativeCountModel>(context);
}
