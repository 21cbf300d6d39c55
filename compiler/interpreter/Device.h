//===- Device.h - One virtual rank --------------------------------*- C++ -*-===//
//
// A rank with its own program counter: a stack of frames, one for the function and one for every
// repeat or fused region that it is in. It runs until it calls a collective, waits for one,
// returns, or fails; the interpreter then lets another rank run. So ranks may run different
// functions, and who waits for whom is real.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_DEVICE_H
#define TITAN_COMPILER_INTERPRETER_DEVICE_H

#include "compiler/interpreter/Flights.h"

#include <deque>

namespace titan::interpreter {

class Device {
public:
  enum class State { Running, Waiting, Finished };

  /// A device at the start of `function`, which keeps its values in `memory`.
  Device(int64_t rank, const RankMesh &mesh, mlir::func::FuncOp function,
         std::unique_ptr<Memory> memory);

  /// Sets the function's arguments to this rank's local parts.
  mlir::LogicalResult setArguments(const std::vector<TensorRef> &arguments);

  /// A collective that the device has called, and what it gave to it.
  struct Call {
    mlir::Operation *op;
    std::vector<TensorRef> operands;
    std::string position;
  };

  /// Runs until the next collective is called or waited for, or to the end. Returns true where one
  /// was called. Errors are emitted at the failing operation.
  mlir::FailureOr<bool> run();

  State getState() const { return state; }
  int64_t getRank() const { return rank; }
  /// What was called and is not done, in order.
  const std::deque<Call> &getCalls() const { return calls; }
  /// The first of these is done; a device that waits for it goes on.
  mlir::LogicalResult complete(std::vector<ir::HostTensor> results);

  /// "train, layers = 1, model.mlir:12:3"
  std::string describePosition() const;

  /// What the function returned.
  const std::vector<TensorRef> &getResults() const { return results; }

private:
  struct Frame {
    mlir::Block *block;
    mlir::Block::iterator next;
    ir::RepeatOp repeat;   ///< null in a function's or a fused region's frame
    int64_t iteration = 0; ///< counts from 0 also when the repeat is reversed
  };

  void advance();
  mlir::LogicalResult poisonResults(mlir::Operation *op);
  mlir::FailureOr<bool> call(mlir::Operation *op);
  mlir::LogicalResult wait(dist::WaitOp op);
  mlir::LogicalResult take(dist::LayerOp op);
  mlir::LogicalResult execute(mlir::Operation *op);
  mlir::LogicalResult evaluate(mlir::Operation *op);
  mlir::LogicalResult enter(ir::RepeatOp repeat);
  mlir::LogicalResult startIteration();
  mlir::LogicalResult yield(ir::YieldOp yield);
  mlir::LogicalResult leave();
  mlir::LogicalResult leaveFused(ir::YieldOp yield);
  int64_t getIndex(const Frame &frame) const;
  /// The body that the frame's iteration runs.
  ir::RepeatVariant getVariant(const Frame &frame) const;
  mlir::LogicalResult storeStackedOutputs(bool early);

  int64_t rank;
  const RankMesh &mesh;
  mlir::func::FuncOp function;
  State state = State::Running;
  std::unique_ptr<Memory> memory;
  std::vector<Frame> frames;
  std::deque<Call> calls;
  Flights flights;
  std::vector<TensorRef> results;
};

/// "model.mlir:12:3", or "?" where an operation has no such place.
std::string describeLocation(mlir::Location location);

} // namespace titan::interpreter

#endif // TITAN_COMPILER_INTERPRETER_DEVICE_H
