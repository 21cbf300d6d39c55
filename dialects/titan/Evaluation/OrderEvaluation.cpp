//===- OrderEvaluation.cpp - Top-k and cumulative sums --------------------===//

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
    int64_t at = topK.getInput().getType().indexOf(topK.getAlongAttr());
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
    Rows rows(*operands[0], sums.getInput().getType().indexOf(sums.getAlongAttr()));
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

} // namespace

void ir::attachOrderEvaluation(MLIRContext &context) {
  TopKOp::attachInterface<TopKModel>(context);
  CumulativeSumOp::attachInterface<CumulativeSumModel>(context);
}
