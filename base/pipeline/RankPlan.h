// What one rank does in a step of a pipeline: the calls of its fragments, its messages, and the
// slots of its stashes. Plain data.
//
// A slot of a stash is taken when its value is written, or when its receive starts. It is free
// after the last call that reads the value; after a call more if the value is sent, so that the
// transfer overlaps with computation.
#pragma once

#include "base/pipeline/Transfers.h"

#include <map>

namespace titan::pipeline {

/// A transfer as one of its ranks sees it.
struct Message {
  bool isSend;
  int allocation; ///< index into Program::persistent
  int64_t slot;   ///< 0 for a value of the step
  int offset;     ///< ranks from the sender to the receiver
};

/// A call, and the messages (indices into RankPlan::messages) around it, each in order.
struct PlannedCall {
  FragmentCall fragment;
  size_t function;  ///< index into Table::functions
  std::string name; ///< in profiles
  struct Slot {
    int allocation;
    int64_t index;
  };
  std::vector<Slot> slots;        ///< of the stashes and inputs that the fragment uses
  std::vector<int> receives = {}; ///< start before the call
  std::vector<int> waits = {};    ///< end before the call, which needs their values or their memory
  std::vector<int> sends = {};    ///< start after the call
};

struct RankPlan {
  std::vector<PlannedCall> calls;
  std::vector<std::vector<int>> uses; ///< Fragment::uses of each fragment
  std::vector<Message> messages;
  std::vector<int> lastWaits;   ///< messages that end with the step
  std::map<int, int64_t> slots; ///< of each stash of the rank
};

/// Throws Fault for a fragment that is none of the `functions` of the table.
RankPlan planRank(const Pipeline &pipeline, const std::vector<std::string> &functions,
                  const StepOrder &order, const std::vector<Transfer> &transfers, int rank);

} // namespace titan::pipeline
