// The plan of one rank for a step of a pipeline: the calls of its fragments, its messages, and the
// slots of its stashes. Plain data.
//
// A slot of a stash is occupied from the write of its value, or from the start of the value's
// receive. It becomes free after the last call that reads the value. If the value is sent, the slot
// becomes free one call later, so that the transfer overlaps with that call.
#pragma once

#include "base/pipeline/Transfers.h"

#include <map>

namespace titan::pipeline {

/// One end of a transfer: a send or a receive.
struct Message {
  bool isSend;
  int allocation; ///< index into Program::persistent
  int64_t slot;   ///< 0 for a step value
  int offset;     ///< coordinate of the receiver minus that of the sender
};

/// A call of a fragment, and the messages that start or end at it: indices into
/// RankPlan::messages, in order.
struct PlannedCall {
  FragmentCall fragment;
  size_t function;  ///< index into Table::functions
  std::string name; ///< for profiles
  struct Slot {
    int allocation;
    int64_t index;
  };
  std::vector<Slot> slots;        ///< one per stash and input that the fragment uses
  std::vector<int> receives = {}; ///< messages that start before the call
  std::vector<int> waits = {};    ///< messages that end before the call
  std::vector<int> sends = {};    ///< messages that start after the call
};

struct RankPlan {
  std::vector<PlannedCall> calls;
  std::vector<std::vector<int>> uses; ///< Fragment::uses of each fragment
  std::vector<Message> messages;
  std::vector<int> lastWaits;   ///< messages that end with the step
  std::map<int, int64_t> slots; ///< number of slots of each stash of the rank
};

/// Plans the step of one rank. Throws Fault if `functions` lacks the function of a fragment.
RankPlan planRank(const Pipeline &pipeline, const std::vector<std::string> &functions,
                  const StepOrder &order, const std::vector<Transfer> &transfers, int rank);

} // namespace titan::pipeline
