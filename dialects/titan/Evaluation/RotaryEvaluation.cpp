// Evaluates rotary position embeddings.

#include "dialects/titan/Evaluation/Evaluation.h"
#include "dialects/titan/Evaluation/IndexSpace.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Rotation of pairs: Su et al., arXiv 2104.09864, section 3.4.2.
struct RotaryModel : EvaluableOpInterface::ExternalModel<RotaryModel, RotaryOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<const HostTensor *> operands,
                         MutableArrayRef<HostTensor> results, const RankShards &shards) const {
    auto rotary = cast<RotaryOp>(op);
    const HostTensor &input = *operands[0];
    if (input.data.size() != results[0].data.size() ||
        failed(checkWhole(op, rotary.getInput(), input, rotary.getDimAttr())))
      return op->emitOpError("operand and result have different shards");
    NamedTensorType type = rotary.getInput().getType();
    int64_t alongAt = type.findDimIndex(rotary.getAlongAttr()),
            dimAt = type.findDimIndex(rotary.getDimAttr());
    int64_t alongStride = getStride(input, alongAt), dimStride = getStride(input, dimAt);
    int64_t size = input.shape[dimAt], pairs = size / 2;
    DimShard shard = shards.getShard(type, alongAt);
    const ChunkStarts starts(rotary.getStart(), operands.back(), rotary.getInput(), input);
    double sign = rotary.getInverse() ? -1 : 1;
    SmallVector<double> radians = rotary.getRadians();
    for (size_t at = 0; at < input.data.size(); ++at) {
      int64_t element = at / dimStride % size;
      bool isFirst = rotary.getInterleaved() ? element % 2 == 0 : element < pairs;
      if (!isFirst)
        continue;
      int64_t pair = rotary.getInterleaved() ? element / 2 : element;
      size_t other = at + (rotary.getInterleaved() ? 1 : pairs) * dimStride;
      int64_t position = starts.at(at) + shard.toGlobal(at / alongStride % input.shape[alongAt]);
      double angle = position * radians[pair];
      double c = std::cos(angle), s = sign * std::sin(angle);
      results[0].data[at] = input.data[at] * c - input.data[other] * s;
      results[0].data[other] = input.data[at] * s + input.data[other] * c;
    }
    return success();
  }
};

} // namespace

void ir::attachRotaryEvaluation(MLIRContext &context) {
  RotaryOp::attachInterface<RotaryModel>(context);
}
