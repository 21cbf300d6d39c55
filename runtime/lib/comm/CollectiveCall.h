// A call of a coalesced collective as data, so that a background thread can execute it later.
#pragma once

#include "Comm.h"

#include <chrono>
#include <vector>

namespace titan::rt {

class FlightRecorder;
class Trace;

/// The parameters of Group's functions; `op` is of reductions.
struct CollectiveCall {
  enum Kind : uint8_t { AllGather, ReduceScatter, AllReduce, AllToAll, Permute } kind;
  Group *group;
  DType type;
  Reduction op;
  Site site;
  std::vector<CollectiveBuffer> buffers;
  Shift shift = {};                                   ///< of a permute
  Trace *trace = nullptr;                             ///< the profile, if one is being taken
  FlightRecorder *flight = nullptr;                   ///< records the call, if not null
  std::chrono::system_clock::time_point started = {}; ///< for the profile
};

/// The bytes that this rank sends in the call by the definition of the plan (docs/costs.md): those
/// of the ring algorithms, whatever the transport does.
int64_t countBytesSent(const CollectiveCall &call);

/// Two buffers for packing, which grow on demand and are reused.
class Staging {
public:
  virtual ~Staging() = default;
  /// Each returns its buffer with at least `bytes` bytes, owned by the staging. A larger request
  /// replaces the buffer.
  virtual std::byte *packed(int64_t bytes) = 0;
  virtual std::byte *received(int64_t bytes) = 0;
  /// Copies `rows` blocks of `bytes` bytes between buffers with these strides in bytes.
  virtual void copyBlocks(const std::byte *from, int64_t fromStride, std::byte *to,
                          int64_t toStride, int64_t rows, int64_t bytes) = 0;
};

/// Whether the group moves the buffers of the call through staging.
bool needsPacking(const CollectiveCall &call);
/// Grows staging as far as `execute` will need.
void reserve(const CollectiveCall &call, Staging &staging);
/// Executes the call. Packs the buffers if the group does not support them unpacked.
void execute(const CollectiveCall &call, Staging &staging);

} // namespace titan::rt
