// One virtual rank.
//
// A rank with its own program counter: a stack of frames, one for the function and one per
// enclosing repeat or fused region. A device runs until it calls a collective, waits for one,
// returns or fails; then the interpreter runs another device. Ranks may run different functions,
// and waiting is real.
#pragma once

#include "compiler/interpreter/Flights.h"
#include "compiler/interpreter/Rendezvous.h"

#include <deque>

namespace titan::interpreter {

class Device {
public:
  enum class State { Running, Waiting, Finished };

  /// A device at the start of `function`, with its values in `memory`.
  Device(int64_t rank, const RankMesh &mesh, mlir::func::FuncOp function,
         std::unique_ptr<Memory> memory);

  /// Sets the function's arguments to the shards of this rank.
  mlir::LogicalResult setArguments(const std::vector<TensorRef> &arguments);

  /// A called collective or an end of a message, and its operands.
  struct PendingCall {
    mlir::Operation *op;
    std::vector<TensorRef> operands;
    Call call;
  };

  /// Runs to the next call of or wait for a collective, or to the end. True if a collective was
  /// called. Errors are emitted at the failing operation.
  mlir::FailureOr<bool> run();

  State getState() const { return state; }
  int64_t getRank() const { return rank; }
  /// The last call, and the first one in a lane.
  const PendingCall &getLast() const { return pendingCalls.back(); }
  const PendingCall &getNext(const Lane &lane) const;
  /// Completes the first call in a lane; resumes the device if it waits for that call.
  mlir::LogicalResult complete(const Lane &lane, std::vector<ir::HostTensor> results);

  /// For example "train, layers = 1, model.mlir:12:3".
  std::string describePosition() const;

  /// The function's results.
  const std::vector<TensorRef> &getResults() const { return results; }

private:
  struct Frame {
    mlir::Block *block;
    mlir::Block::iterator next;
    ir::RepeatOp repeat;   ///< null in the frame of a function or fused region
    int64_t iteration = 0; ///< counts from 0, also in a reversed repeat
  };

  void advance();
  /// Sets the results of `op` to NaN.
  mlir::LogicalResult poisonResults(mlir::Operation *op);
  /// Calls a collective or an end of a message. False if the call does not happen.
  mlir::FailureOr<bool> call(mlir::Operation *op);
  mlir::LogicalResult wait(dist::WaitOp op);
  mlir::LogicalResult readLayer(dist::LayerOp op);
  mlir::LogicalResult execute(mlir::Operation *op);
  mlir::LogicalResult evaluate(mlir::Operation *op);
  mlir::LogicalResult enter(ir::RepeatOp repeat);
  mlir::LogicalResult startIteration();
  mlir::LogicalResult yield(ir::YieldOp yield);
  mlir::LogicalResult leave();
  mlir::LogicalResult leaveFused(ir::YieldOp yield);
  /// The index of the frame's iteration, which decreases in a reversed repeat.
  int64_t getIndex(const Frame &frame) const;
  /// The variant of the frame's iteration.
  ir::RepeatVariant getVariant(const Frame &frame) const;
  /// Stores slots of stacked outputs: with `early`, those that are arguments of the body, at the
  /// start of an iteration; otherwise all others, at its end.
  mlir::LogicalResult storeStackedOutputs(bool early);

  int64_t rank;
  const RankMesh &mesh;
  mlir::func::FuncOp function;
  State state = State::Running;
  std::unique_ptr<Memory> memory;
  std::vector<Frame> frames;
  std::deque<PendingCall> pendingCalls; ///< in flight, in order
  Flights flights;
  std::vector<TensorRef> results;
};

/// For example "model.mlir:12:3"; "?" for an operation without a file location.
std::string describeLocation(mlir::Location location);

} // namespace titan::interpreter
