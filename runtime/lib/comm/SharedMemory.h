// Memory shared by the members of a group on one machine, with a barrier. It is an anonymous file
// (MemoryFile.h), so a killed run leaves no named file behind, and the size of /dev/shm does not
// matter.
//
// Each member writes the signature of its call next to its arrival count. Members that arrive with
// different calls get an error instead of each other's bytes.
#pragma once

#include "CallSignature.h"

#include "base/Error.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace titan::rt {

class Descriptor;
class Rendezvous;

class SharedMemory {
public:
  /// All members call this. Returns null on all of them if one cannot access the memory, for
  /// example in another container. `bytes` is the size of each member's slot.
  static std::unique_ptr<SharedMemory>
  connect(Rendezvous &rendezvous, const std::vector<int> &ranks, int position, size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;

  /// This member will not arrive again. Ends all waits for it, and its own.
  void leave();

  /// The `bytes` bytes of the member at this position.
  std::byte *slot(int position) const { return slots + position * slotBytes; }

  struct Problem {
    std::string text; ///< empty: no problem
    Fault::Peer peer = {};
  };
  /// Waits until all members have called it as often as this one. Returns a problem after
  /// `timeout`, if a member's process has ended ("rank 3 is gone"), or if a member has a different
  /// call.
  Problem barrier(const CallSignature &call, std::chrono::seconds timeout);

private:
  /// The readable part of a member's call, for the error message.
  struct alignas(64) RecordedCall {
    char name[28], source[20]; // the ends of longer texts
    int64_t bytes;
    DType type;

    void set(const CallSignature &call);
    std::string describe() const;
  };
  /// Calls are stored by the parity of the arrival count: a member is at most one barrier ahead of
  /// any reader.
  struct alignas(64) Member {
    std::atomic<uint32_t> arrivals; ///< number of barriers that the member has reached
    std::atomic<uint32_t> waiters;  ///< number of members that sleep until its next arrival
    int32_t process;
    std::atomic<uint32_t> hasLeft; ///< the member will not arrive again
    uint64_t signature[2];         ///< hashes of its last calls
    RecordedCall recorded[2];
  };

  SharedMemory(std::vector<int> ranks, int position, size_t slotBytes)
      : ranks(std::move(ranks)), position(position), slotBytes(slotBytes) {}
  size_t totalBytes() const { return ranks.size() * (sizeof(Member) + slotBytes); }
  /// Create the memory on the first member, and receive it on the others. `name` begins the keys of
  /// this group in the store. Return false if this member cannot access the memory.
  bool offer(Rendezvous &rendezvous, const std::string &name);
  bool accept(Rendezvous &rendezvous, const std::string &name);
  bool map(const Descriptor &file);
  bool isGone(int member) const;
  /// Waits until the member's arrival count reaches `target`.
  Problem waitFor(int member, uint32_t target, std::chrono::steady_clock::time_point deadline);
  /// A problem if a member has reached this barrier with a different call.
  Problem compareCalls() const;

  std::vector<int> ranks;
  int position;
  size_t slotBytes;
  void *memory = nullptr;
  Member *members = nullptr;
  std::byte *slots = nullptr;
  uint32_t arrivals = 0;
  bool watchProcesses = true; // false if process ids of other members are meaningless here
};

} // namespace titan::rt
