//===- Device.cpp - One virtual rank --------------------------------------===//

#include "compiler/interpreter/Device.h"

#include "compiler/interpreter/Collectives.h"
#include "compiler/interpreter/Layout.h"
#include "compiler/interpreter/Rounding.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;
using ir::NamedTensorType;

static NamedTensorType getType(Value value) {
  return cast<NamedTensorType>(value.getType());
}

std::string interpreter::describeLocation(Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "?";
  return (llvm::sys::path::filename(place.getFilename()) + ":" + llvm::Twine(place.getLine()) +
          ":" + llvm::Twine(place.getColumn()))
      .str();
}

Device::Device(int64_t rank, const RankMesh &mesh, func::FuncOp function,
               std::vector<TensorRef> arguments)
    : rank(rank), mesh(mesh), function(function) {
  Block &entry = function.getBody().front();
  for (auto [argument, tensor] : llvm::zip_equal(entry.getArguments(), arguments))
    values[argument] = tensor;
  frames.push_back({&entry, entry.begin(), {}, 0, {}});
}

std::string Device::describePosition() const {
  std::string text = func::FuncOp(function).getName().str();
  for (const Frame &frame : frames)
    if (frame.repeat)
      text.append(", ")
          .append(ir::RepeatOp(frame.repeat).getDim().getName().getValue())
          .append(" = ")
          .append(std::to_string(getIndex(frame)));
  return text.append(", ").append(describeLocation(frames.back().next->getLoc()));
}

LogicalResult Device::run() {
  // Whatever an operation complains about, say where this rank stands.
  ScopedDiagnosticHandler handler(function.getContext(), [&](Diagnostic &diagnostic) {
    diagnostic.attachNote() << "on rank " << rank << ": " << describePosition();
    return failure();
  });
  while (state == State::Running) {
    Operation *op = &*frames.back().next;
    if (isCollective(op))
      state = State::Waiting;
    else if (failed(execute(op)))
      return failure();
  }
  return success();
}

void Device::resume(HostTensor result) {
  values[getPending()->getResult(0)] = std::make_shared<HostTensor>(std::move(result));
  ++frames.back().next;
  state = State::Running;
}

/// A value's tensor must have the local shape that its type says, whoever made it.
LogicalResult Device::write(Value value, TensorRef tensor) {
  if (ArrayRef(tensor->shape) != ArrayRef(dist::getLocalShape(getType(value), mesh.getDegrees())))
    return emitError(value.getLoc(), "a value does not have the local shape of ") << getType(value);
  values[value] = std::move(tensor);
  return success();
}

LogicalResult Device::execute(Operation *op) {
  if (auto repeat = dyn_cast<ir::RepeatOp>(op))
    return enter(repeat);
  if (auto fused = dyn_cast<ir::FusedOp>(op)) {
    Block &body = fused.getBody().front();
    frames.push_back({&body, body.begin(), {}, 0, {}});
    return success();
  }
  if (auto yielded = dyn_cast<ir::YieldOp>(op))
    return frames.back().repeat ? yield(yielded) : leaveFused(yielded);
  if (isa<func::ReturnOp>(op)) {
    for (Value value : op->getOperands())
      results.push_back(read(value));
    state = State::Finished;
    return success();
  }
  if (failed(evaluate(op)))
    return failure();
  ++frames.back().next;
  return success();
}

LogicalResult Device::evaluate(Operation *op) {
  if (isa<dist::LocalSliceOp, dist::MakePartialOp>(op)) {
    auto local = evaluateConversion(op, mesh, {rank}, {read(op->getOperand(0)).get()});
    if (failed(local))
      return failure();
    return write(op->getResult(0), std::make_shared<HostTensor>(std::move(local->front())));
  }
  auto evaluable = dyn_cast<ir::EvaluableOpInterface>(op);
  if (!evaluable)
    return op->emitOpError("has no reference meaning (EvaluableOpInterface)");
  SmallVector<const HostTensor *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(read(operand).get());
  SmallVector<HostTensor> computed;
  for (Value result : op->getResults())
    computed.push_back(makePoisoned(getType(result), mesh));
  if (failed(evaluable.evaluate(operands, computed, MeshPlace(mesh, rank))))
    return failure();
  for (auto [result, tensor] : llvm::zip_equal(op->getResults(), computed)) {
    roundTo(getType(result).getElementType(), tensor.data);
    values[result] = std::make_shared<HostTensor>(std::move(tensor));
  }
  return success();
}

int64_t Device::getIndex(const Frame &frame) const {
  ir::RepeatOp repeat = frame.repeat;
  return repeat.getReverse() ? repeat.getDim().getSize() - 1 - frame.iteration : frame.iteration;
}

LogicalResult Device::enter(ir::RepeatOp repeat) {
  Block &body = repeat.getBody().front();
  Frame frame{&body, body.begin(), repeat, 0, {}};
  for (Value stack : repeat.getStackedResults())
    frame.stacks.push_back(makePoisoned(getType(stack), mesh));
  for (auto [init, argument] : llvm::zip_equal(repeat.getInits(), repeat.getCarriedArgs()))
    if (failed(write(argument, read(init))))
      return failure();
  if (failed(bindSlices(frame)))
    return failure();
  frames.push_back(std::move(frame));
  return success();
}

/// Sets the index and the slices of the frame's iteration.
LogicalResult Device::bindSlices(Frame &frame) {
  int64_t index = getIndex(frame), count = frame.repeat.getDim().getSize();
  HostTensor scalar{{}, {static_cast<double>(index)}};
  values[frame.repeat.getIndex()] = std::make_shared<HostTensor>(std::move(scalar));
  for (auto [whole, argument] :
       llvm::zip_equal(frame.repeat.getSlices(), frame.repeat.getSliceArgs())) {
    TensorRef tensor = read(whole);
    if (tensor->shape.empty() || tensor->shape[0] != count)
      return frame.repeat.emitOpError("slices a value whose leading dimension is split");
    auto row = static_cast<int64_t>(tensor->data.size()) / count;
    HostTensor slice;
    slice.shape.assign(tensor->shape.begin() + 1, tensor->shape.end());
    slice.data.assign(tensor->data.begin() + index * row, tensor->data.begin() + (index + 1) * row);
    if (failed(write(argument, std::make_shared<HostTensor>(std::move(slice)))))
      return failure();
  }
  return success();
}

LogicalResult Device::yield(ir::YieldOp yield) {
  Frame &frame = frames.back();
  int64_t count = frame.repeat.getDim().getSize(), index = getIndex(frame);
  size_t numCarried = frame.repeat.getNumCarried();
  for (size_t i = 0; i < frame.stacks.size(); ++i) {
    TensorRef row = read(yield.getValues()[numCarried + i]);
    if (row->data.size() * count != frame.stacks[i].data.size())
      return yield.emitOpError("stacks a value that lies differently from the result");
    std::copy(row->data.begin(), row->data.end(),
              frame.stacks[i].data.begin() + index * row->data.size());
  }
  if (++frame.iteration == count)
    return leave();
  // Read all before writing any: a body may yield its carried arguments in another order.
  std::vector<TensorRef> carried;
  for (Value value : yield.getValues().take_front(numCarried))
    carried.push_back(read(value));
  for (auto [argument, tensor] : llvm::zip_equal(frame.repeat.getCarriedArgs(), carried))
    if (failed(write(argument, tensor)))
      return failure();
  frame.next = frame.block->begin();
  return bindSlices(frame);
}

/// Row by row or operation by operation, a fused region means the same.
LogicalResult Device::leaveFused(ir::YieldOp yield) {
  frames.pop_back();
  Operation *fused = &*frames.back().next;
  for (auto [result, value] : llvm::zip_equal(fused->getResults(), yield.getValues()))
    if (failed(write(result, read(value))))
      return failure();
  ++frames.back().next;
  return success();
}

LogicalResult Device::leave() {
  Frame frame = std::move(frames.back());
  auto yielded = frame.repeat.getYield().getValues();
  for (auto [result, value] : llvm::zip(frame.repeat.getCarriedResults(),
                                        yielded.take_front(frame.repeat.getNumCarried())))
    if (failed(write(result, read(value))))
      return failure();
  for (auto [result, stack] : llvm::zip_equal(frame.repeat.getStackedResults(), frame.stacks))
    values[result] = std::make_shared<HostTensor>(std::move(stack));
  frames.pop_back();
  ++frames.back().next;
  return success();
}
