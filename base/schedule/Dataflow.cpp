#include "base/schedule/Dataflow.h"

namespace titan::schedule {

Value getMovedValue(const Action &transfer) {
  const auto [kind, stage, microbatch, cell] = transfer;
  switch (kind) {
  case Kind::SendForward:
    return {ValueKind::Activation, stage, microbatch};
  case Kind::ReceiveForward:
    return {ValueKind::Activation, stage - 1, microbatch};
  case Kind::SendBackward:
    return {ValueKind::Gradient, stage, microbatch};
  default:
    return {ValueKind::Gradient, stage + 1, microbatch};
  }
}

Action getPeer(const Action &transfer) {
  const auto [kind, stage, microbatch, cell] = transfer;
  switch (kind) {
  case Kind::SendForward:
    return {Kind::ReceiveForward, stage + 1, microbatch};
  case Kind::ReceiveForward:
    return {Kind::SendForward, stage - 1, microbatch};
  case Kind::SendBackward:
    return {Kind::ReceiveBackward, stage - 1, microbatch};
  default:
    return {Kind::SendBackward, stage + 1, microbatch};
  }
}

int findReader(const Schedule &schedule, const Value &value) {
  const int stage = value.stage + (value.kind == ValueKind::Activation ? 1 : -1);
  return stage < 0 || stage >= schedule.stages ? -1 : schedule.getRankOfStage(stage);
}

std::vector<Value> getReads(const Action &action, int stages) {
  const auto [kind, stage, microbatch, cell] = action;
  std::vector<Value> values;
  switch (kind) {
  case Kind::Forward:
    if (stage > 0)
      values.push_back({ValueKind::Activation, stage - 1, microbatch});
    break;
  case Kind::Backward:
  case Kind::Dgrad:
    values.push_back({ValueKind::DgradStash, stage, microbatch});
    if (kind == Kind::Backward)
      values.push_back({ValueKind::WgradStash, stage, microbatch});
    if (stage < stages - 1)
      values.push_back({ValueKind::Gradient, stage + 1, microbatch});
    break;
  case Kind::Wgrad:
    values.push_back({ValueKind::WgradStash, stage, microbatch});
    values.push_back({ValueKind::WgradOperands, stage, microbatch});
    break;
  case Kind::SendForward:
  case Kind::SendBackward:
    values.push_back(getMovedValue(action));
    break;
  default:
    break;
  }
  return values;
}

std::vector<Value> getWrites(const Action &action) {
  const auto [kind, stage, microbatch, cell] = action;
  switch (kind) {
  case Kind::Forward:
    return {{ValueKind::Activation, stage, microbatch},
            {ValueKind::DgradStash, stage, microbatch},
            {ValueKind::WgradStash, stage, microbatch}};
  case Kind::Backward:
    return {{ValueKind::Gradient, stage, microbatch}};
  case Kind::Dgrad:
    return {{ValueKind::Gradient, stage, microbatch},
            {ValueKind::WgradOperands, stage, microbatch}};
  case Kind::ReceiveForward:
  case Kind::ReceiveBackward:
    return {getMovedValue(action)};
  default:
    return {};
  }
}

} // namespace titan::schedule
