// One call of a collective on several values, as data: so it can be carried out now, or later by
// the thread that communicates in the background.
#pragma once

#include "Comm.h"

#include <chrono>
#include <vector>

namespace titan::rt {

class Trace;

struct CollectiveCall {
  enum Kind : uint8_t { AllGather, ReduceScatter, AllReduce } kind;
  Group *group;
  DType type;
  Reduction op;
  Site site;
  std::vector<CollectiveBuffer> buffers;
  Trace *trace = nullptr;                             ///< where a profile is being taken
  std::chrono::system_clock::time_point started = {}; ///< for the profile
};

/// Two stretches of memory for packing, which grow to what was asked for and stay.
class Staging {
public:
  virtual ~Staging() = default;
  virtual std::byte *packed(int64_t bytes) = 0;
  virtual std::byte *received(int64_t bytes) = 0;
  /// Copies `rows` blocks of `bytes` that lie `fromStride` and `toStride` bytes apart.
  virtual void copyBlocks(const std::byte *from, int64_t fromStride, std::byte *to,
                          int64_t toStride, int64_t rows, int64_t bytes) = 0;
};

/// Makes staging as large as carrying the exchange out will need it.
void reserve(const CollectiveCall &call, Staging &staging);
/// Carries out the exchange: by the group itself if it takes the values as they lie, else packed
/// into one stretch of memory.
void execute(const CollectiveCall &call, Staging &staging);

} // namespace titan::rt
