// The actions of a pipeline schedule, in the notation of torch.distributed.pipelining: `2F0` is the
// forward pass of stage 2 for microbatch 0, `1UNSHARD` gathers the parameters of stage 1.
//
// Source of the notation: `_Action` in torch/distributed/pipelining/schedules.py of PyTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace titan::schedule {

enum class Kind : uint8_t {
  Forward,     ///< F
  Backward,    ///< B: dgrad and wgrad in one action
  Dgrad,       ///< I: the gradient of the stage's input
  Wgrad,       ///< W: the gradients of the stage's parameters
  Unshard,     ///< UNSHARD: all-gather of the stage's parameters
  Reshard,     ///< RESHARD: free what UNSHARD gathered
  ReduceGrad,  ///< REDUCE_GRAD: reduce the stage's accumulated gradients over data parallel ranks
  SendForward, ///< SEND_F: the stage's output to the next stage
  ReceiveForward,  ///< RECV_F: the stage's input from the previous stage
  SendBackward,    ///< SEND_B: the gradient of the stage's input to the previous stage
  ReceiveBackward, ///< RECV_B: the gradient of the stage's output from the next stage
};

/// The letters of the notation: "F", "SEND_F".
std::string_view getName(Kind kind);

/// F, B, I or W.
inline bool isCompute(Kind kind) {
  return kind <= Kind::Wgrad;
}
/// A send or a receive.
inline bool isTransfer(Kind kind) {
  return kind >= Kind::SendForward;
}
/// UNSHARD, RESHARD and REDUCE_GRAD belong to a stage, all others to a stage and a microbatch.
inline bool hasMicrobatch(Kind kind) {
  return isCompute(kind) || isTransfer(kind);
}

struct Action {
  Kind kind = Kind::Forward;
  int stage = 0;
  int microbatch = -1; ///< -1 without a microbatch
  /// The column of the table. Two actions in one cell overlap; a column without an action is idle.
  int cell = 0;
};

/// Whether both have the same kind, stage and microbatch, in any cells.
inline bool isSame(const Action &a, const Action &b) {
  return a.kind == b.kind && a.stage == b.stage && a.microbatch == b.microbatch;
}

/// "2F0".
std::string toText(const Action &action);
/// The action of "2F0", in cell 0. Nothing if the text is no action.
std::optional<Action> parseAction(std::string_view text);

} // namespace titan::schedule
