// A block of memory that the members of a group on one machine share, and a barrier in it. It is an
// anonymous file (MemoryFile.h), so nothing with a name is left behind when a run is killed, and
// the size of /dev/shm does not matter.
//
// What a member comes to a barrier for is in the block, beside the count of its arrivals: members
// that come for different operations are told so instead of reading one another's bytes.
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
  /// All members call this; null (on all of them) if one cannot see the others' memory, because
  /// they run in different containers, say. `bytes` is what every member gets as its slot.
  static std::unique_ptr<SharedMemory>
  connect(Rendezvous &rendezvous, const std::vector<int> &ranks, int position, size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;

  std::byte *slot(int position) const { return slots + position * slotBytes; }

  struct Problem {
    std::string text; ///< empty: none
    Fault::Peer peer = {};
  };
  /// Returns when all members have called it as often as this one. What is wrong: after `timeout`,
  /// when a member's process has ended ("rank 3 is gone"), or where a member came for another call.
  Problem barrier(const CallSignature &call, std::chrono::seconds timeout);

private:
  /// A call as its member tells it, for the message where calls differ.
  struct alignas(64) RecordedCall {
    char name[28], source[20]; // the ends of longer texts
    int64_t bytes;
    DType type;

    void set(const CallSignature &call);
    std::string describe() const;
  };
  /// Members' calls by the parity of the arrival: who came is at most one barrier ahead of who has
  /// not read yet.
  struct alignas(64) Member {
    std::atomic<uint32_t> arrivals; ///< how often it came
    std::atomic<uint32_t> waiters;  ///< who sleeps until it comes
    int32_t process;
    std::atomic<uint32_t> hasLeft; ///< it comes no more
    uint64_t signature[2];         ///< of its call
    RecordedCall told[2];
  };

  SharedMemory(std::vector<int> ranks, int position, size_t slotBytes)
      : ranks(std::move(ranks)), position(position), slotBytes(slotBytes) {}
  size_t totalBytes() const { return ranks.size() * (sizeof(Member) + slotBytes); }
  bool offer(Rendezvous &rendezvous, const std::string &name);
  bool accept(Rendezvous &rendezvous, const std::string &name);
  bool map(const Descriptor &file);
  bool isGone(int member) const;
  Problem waitFor(int member, uint32_t target, std::chrono::steady_clock::time_point deadline);
  Problem compareCalls() const;

  std::vector<int> ranks;
  int position;
  size_t slotBytes;
  void *memory = nullptr;
  Member *members = nullptr;
  std::byte *slots = nullptr;
  uint32_t arrivals = 0;
  bool watchProcesses = true; // their ids mean something here
};

} // namespace titan::rt
