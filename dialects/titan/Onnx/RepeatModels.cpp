// Repeats, unrolled: each iteration has its own nodes and weights, as runtimes expect of layers.

#include "dialects/titan/IR/IterationTable.h"
#include "dialects/titan/IR/RepeatVariant.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Onnx/OnnxModels.h"

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

namespace {

class UnrolledRepeat {
public:
  UnrolledRepeat(ir::RepeatOp op, Translation &translation)
      : op(op), translation(translation), table(op.getIterations()),
        outputs(op.getStackedOutputs().size()) {
    for (unsigned i = 0; i < op.getScannedInputs().size(); ++i)
      inputSlots.push_back(table.getSlots(op.getScannedUsers(i)));
    for (Value init : op.getInits())
      carried.push_back(translation.get(init));
    for (size_t i = 0; i < outputs.size(); ++i)
      outputs[i].resize(table.getCount(op.getStackedUsers(i)));
  }

  LogicalResult build() {
    const int64_t count = table.getNumIterations();
    for (int64_t i = 0; i < count; ++i)
      if (failed(runIteration(op.getReverse() ? count - 1 - i : i)))
        return failure();
    for (auto [result, tensor] : llvm::zip_equal(op.getIterResults(), carried))
      translation.set(result, tensor);
    for (auto [result, slots] : llvm::zip_equal(op.getStackedOutputs(), outputs))
      translation.set(result, join(slots));
    return success();
  }

private:
  LogicalResult runIteration(int64_t iteration) {
    const ir::RepeatVariant variant = op.getVariant(table.getVariant(iteration));
    translation.set(variant.getIndex(),
                    Tensor{translation.getGraph().addInteger(iteration), ElementType::I64, {}});
    for (auto [argument, tensor] : llvm::zip_equal(variant.getIterArgs(), carried))
      translation.set(argument, tensor);
    for (const auto &[input, slot, number] : variant.getScannedInputs())
      translation.setSlot(slot, input, inputSlots[number][iteration]);
    if (failed(translation.translate(variant.getBlock())))
      return failure();
    for (auto [tensor, value] : llvm::zip_equal(carried, variant.getYieldedIterArgs()))
      tensor = translation.get(value);
    for (const auto &[value, output, operand] : variant.getStackedOutputs()) {
      const unsigned number = output.getResultNumber() - op.getNumIterArgs();
      const int64_t slot = table.getSlots(op.getStackedUsers(number))[iteration];
      outputs[number][slot] = translation.getSlots(value);
    }
    return success();
  }

  /// Slots, which may be stacks of inner repeats, as one stack.
  static Stacked join(ArrayRef<Stacked> slots) {
    Stacked all{{static_cast<int64_t>(slots.size())}, {}};
    all.sizes.append(slots.front().sizes);
    for (const Stacked &slot : slots)
      all.slots.insert(all.slots.end(), slot.slots.begin(), slot.slots.end());
    return all;
  }

  ir::RepeatOp op;
  Translation &translation;
  ir::IterationTable table;
  std::vector<SmallVector<int64_t>> inputSlots; ///< of each scanned input, by iteration
  SmallVector<Tensor> carried;                  ///< the iteration arguments
  std::vector<std::vector<Stacked>> outputs;    ///< the slots of stacked outputs
};

struct RepeatModel : OnnxOpInterface::ExternalModel<RepeatModel, ir::RepeatOp> {
  LogicalResult translateToOnnx(Operation *op, Translation &translation) const {
    return UnrolledRepeat(cast<ir::RepeatOp>(op), translation).build();
  }
};

} // namespace

void onnx::attachRepeatModels(MLIRContext &context) {
  ir::RepeatOp::attachInterface<RepeatModel>(context);
}
