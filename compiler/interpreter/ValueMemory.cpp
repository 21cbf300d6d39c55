// Stores one tensor per value.

#include "compiler/interpreter/Layout.h"
#include "compiler/interpreter/Memory.h"
#include "dialects/titan/IR/TensorType.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::getTensorType;
using ir::HostTensor;
using ir::NamedTensorType;

namespace {

class ValueMemory : public Memory {
public:
  explicit ValueMemory(const RankMesh &mesh) : mesh(mesh) {}

  TensorRef read(Value value) const override { return values.lookup(value); }

  /// A tensor must have the local shape of its value's type.
  LogicalResult write(Value value, TensorRef tensor) override {
    if (ArrayRef(tensor->shape) !=
        ArrayRef(dist::getLocalShape(getTensorType(value), mesh.getDegrees())))
      return emitError(value.getLoc(), "a value does not have the local shape of ")
             << getTensorType(value);
    values[value] = std::move(tensor);
    return success();
  }

  LogicalResult loadSlot(BlockArgument argument, Value whole, int64_t slot) override {
    TensorRef tensor = read(whole);
    if (tensor->shape.empty() || tensor->shape[0] != getTensorType(whole).getDims()[0].getSize())
      return emitError(argument.getLoc(), "scans a value whose leading dimension is sharded");
    return write(argument, readSlot(whole, slot, getTensorType(argument)));
  }

  TensorRef readSlot(Value stack, int64_t slot, NamedTensorType) const override {
    TensorRef tensor = read(stack);
    size_t row = tensor->data.size() / tensor->shape[0];
    HostTensor slice;
    slice.shape.assign(tensor->shape.begin() + 1, tensor->shape.end());
    auto first = tensor->data.begin() + slot * row;
    slice.data.assign(first, first + row);
    return std::make_shared<HostTensor>(std::move(slice));
  }

  void beginStack(Value stack) override {
    stacks[stack] = std::make_shared<HostTensor>(makePoisoned(getTensorType(stack), mesh));
    values[stack] = stacks[stack];
  }

  LogicalResult storeSlot(OpResult stack, int64_t slot, Value value) override {
    TensorRef row = read(value);
    std::vector<double> &data = stacks[stack]->data;
    if (row->data.size() * getTensorType(stack).getDims()[0].getSize() != data.size())
      return emitError(value.getLoc(), "stacks a value with another local shape than the slot");
    std::copy(row->data.begin(), row->data.end(), data.begin() + slot * row->data.size());
    return success();
  }

  /// Reads all values before it writes any: a body may yield its iteration arguments in another
  /// order.
  LogicalResult assign(ValueRange arguments, ValueRange next) override {
    SmallVector<TensorRef> tensors;
    for (Value value : next)
      tensors.push_back(read(value));
    for (auto [argument, tensor] : llvm::zip_equal(arguments, tensors))
      if (failed(write(argument, tensor)))
        return failure();
    return success();
  }

  LogicalResult checkOverlap(Operation *) const override { return success(); }

  FailureOr<std::vector<TensorRef>> returnFrom(func::ReturnOp op) override {
    std::vector<TensorRef> results;
    for (Value value : op.getOperands())
      results.push_back(read(value));
    return results;
  }

private:
  const RankMesh &mesh;
  llvm::DenseMap<Value, TensorRef> values;
  llvm::DenseMap<Value, std::shared_ptr<HostTensor>> stacks; ///< stacked outputs of running repeats
};

} // namespace

std::unique_ptr<Memory> interpreter::makeValueMemory(const RankMesh &mesh) {
  return std::make_unique<ValueMemory>(mesh);
}
