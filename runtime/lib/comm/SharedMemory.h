// A block of memory that the members of a group on one machine share, and a barrier in it. It is an
// anonymous file (memfd) that the others open through /proc, so nothing with a name is left behind
// when a run is killed, and the size of /dev/shm does not matter.
#pragma once

#include "titan/runtime/comm.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace titan::rt {

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

  /// Returns when all members have called it as often as this one. After `timeout`, or when a
  /// member's process has ended, returns what is wrong ("rank 3 is gone"); else an empty text.
  std::string barrier(std::chrono::seconds timeout);

private:
  /// One cache line a member.
  struct alignas(64) Member {
    std::atomic<uint32_t> arrivals; ///< how often it came
    std::atomic<uint32_t> waiters;  ///< who sleeps until it comes
    int32_t process;
    int32_t padding;
  };

  SharedMemory(std::vector<int> ranks, int position, size_t slotBytes)
      : ranks(std::move(ranks)), position(position), slotBytes(slotBytes) {}
  size_t totalBytes() const { return ranks.size() * (sizeof(Member) + slotBytes); }
  bool map(int file);
  bool isGone(int member) const;
  std::string waitFor(int member, uint32_t target, std::chrono::steady_clock::time_point deadline);

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
