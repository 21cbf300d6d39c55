// Memory outside the arena in which collectives pack values of several contiguous segments: those
// of one message are contiguous (runtime/lib/comm/CollectiveCall.cpp).
#pragma once

#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <vector>

namespace titan::plan {

/// Adds up the buffers of a rank over all functions that it runs. A pair of buffers is as large as
/// its largest message, and is kept. The program has a pair; on a CPU, so has each group of ranks
/// with collectives that are started and waited for. Groups in shared memory only use those of
/// all-to-alls and of head-tail order.
class Packing {
public:
  Packing(const dist::Degrees &degrees, bool hasLanes) : degrees(degrees), hasLanes(hasLanes) {}

  void add(mlir::func::FuncOp function);
  int64_t getBytes() const;

private:
  struct Buffers {
    int64_t sent = 0, received = 0;
  };

  const dist::Degrees &degrees;
  bool hasLanes; ///< of groups; on devices, started collectives use the buffers of the program
  std::map<std::vector<std::string>, Buffers>
      buffers; ///< by the axes of the group; the program's: {}
};

} // namespace titan::plan
