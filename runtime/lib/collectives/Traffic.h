// What a rank sends in the steps of a run, by kind of collective and mesh axes: the measured
// counterpart of the traffic that `titanc info` plans, by the same definition of bytes
// (docs/costs.md). The program's thread counts each call when it issues it.
#pragma once

#include "comm/CollectiveCall.h"

#include <string>
#include <vector>

namespace titan::rt {

class Traffic {
public:
  /// All calls of one kind over the same axes.
  struct Use {
    std::string kind;      ///< "all_gather", ..., "send" of a pipeline's message
    std::vector<int> axes; ///< indices into the program's mesh
    int64_t times = 0, bytes = 0;
  };

  /// Counts a call that this rank issues.
  void add(const CollectiveCall &call, GroupRef axes);
  const std::vector<Use> &uses() const { return all; }

private:
  std::vector<Use> all; // few, so a linear search is fastest
};

} // namespace titan::rt
