// The values that the actions of a schedule read and write. Replay, verifier, passes and memory
// derive all dependencies between actions from getReads and getWrites.
#pragma once

#include "base/schedule/Schedule.h"

namespace titan::schedule {

enum class ValueKind : uint8_t {
  Activation,    ///< the output of a stage
  Gradient,      ///< the gradient of the input of a stage
  DgradStash,    ///< the residuals that dgrad alone reads: from F to B or I
  WgradStash,    ///< the other residuals: from F to B or W
  WgradOperands, ///< the cotangents that I computes for W
};

/// A value of one microbatch. Only activations and gradients move between ranks.
struct Value {
  ValueKind kind;
  int stage, microbatch;
};

/// The values that an action needs on its rank before it starts.
std::vector<Value> getReads(const Action &action, int stages);
/// The values that an action computes or receives on its rank.
std::vector<Value> getWrites(const Action &action);

/// The value that a send or a receive moves.
Value getMovedValue(const Action &transfer);
/// The receive of a send, the send of a receive.
Action getPeer(const Action &transfer);
/// The rank that reads an activation or a gradient; -1 if no stage reads it.
int findReader(const Schedule &schedule, const Value &value);

/// Numbers the values of a schedule from 0.
class ValueNumbers {
public:
  explicit ValueNumbers(const Schedule &schedule)
      : stages(schedule.stages), microbatches(schedule.microbatches) {}
  size_t operator()(const Value &value) const {
    return (static_cast<size_t>(value.kind) * size_t(stages) + size_t(value.stage)) *
               size_t(microbatches) +
           size_t(value.microbatch);
  }
  size_t count() const { return numKinds * size_t(stages) * size_t(microbatches); }

private:
  static constexpr size_t numKinds = size_t(ValueKind::WgradOperands) + 1;
  int stages, microbatches;
};

} // namespace titan::schedule
