#include "SharedMemory.h"

#include "Rendezvous.h"

#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

using Clock = std::chrono::steady_clock;

/// Sleeps while *word is `value`, at most so many milliseconds.
void sleepWhile(std::atomic<uint32_t> *word, uint32_t value, int milliseconds) {
  timespec limit{milliseconds / 1000, milliseconds % 1000 * 1000000L};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

void wakeAll(std::atomic<uint32_t> *word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace

std::unique_ptr<SharedMemory> SharedMemory::connect(Rendezvous &rendezvous,
                                                    const std::vector<int> &ranks, int position,
                                                    size_t bytes) {
  std::unique_ptr<SharedMemory> memory(new SharedMemory(ranks, position, bytes));
  std::string name = fmt::format("memory/{}", fmt::join(ranks, ","));
  int file = -1;
  if (position == 0) {
    file = memfd_create("titan-group", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, static_cast<off_t>(memory->totalBytes())) != 0) {
      ::close(file);
      file = -1;
    }
    rendezvous.publish(name, file < 0 ? "-" : fmt::format("/proc/{}/fd/{}", getpid(), file));
  } else {
    std::string path = rendezvous.lookup(name);
    file = path == "-" ? -1 : ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  bool mapped = file >= 0 && memory->map(file);
  // The creator's descriptor stays open until everyone has had the chance to open it.
  rendezvous.publish(fmt::format("{}/{}", name, position), mapped ? "yes" : "no");
  bool all = true;
  for (size_t member = 0; member < ranks.size(); ++member)
    all &= rendezvous.lookup(fmt::format("{}/{}", name, member)) == "yes";
  if (file >= 0)
    ::close(file);
  if (!all)
    return nullptr;
  for (size_t member = 0; member < ranks.size(); ++member)
    memory->watchProcesses &= !memory->isGone(static_cast<int>(member));
  return memory;
}

SharedMemory::~SharedMemory() {
  if (memory)
    ::munmap(memory, totalBytes());
}

bool SharedMemory::map(int file) {
  void *mapped = ::mmap(nullptr, totalBytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED)
    return false;
  memory = mapped;
  members = static_cast<Member *>(mapped); // zero pages are valid members: nobody came yet
  slots = static_cast<std::byte *>(mapped) + ranks.size() * sizeof(Member);
  members[position].process = getpid();
  return true;
}

/// True if the member's process has ended, also if nobody has collected it yet.
bool SharedMemory::isGone(int member) const {
  std::ifstream stat(fmt::format("/proc/{}/stat", members[member].process));
  std::string text;
  if (!std::getline(stat, text))
    return true;
  size_t name = text.rfind(')');
  char state = name == std::string::npos || name + 2 >= text.size() ? '?' : text[name + 2];
  return state == 'Z' || state == 'X';
}

std::string SharedMemory::barrier(std::chrono::seconds timeout) {
  Member &self = members[position];
  ++arrivals;
  self.arrivals.store(arrivals);
  if (self.waiters.load() != 0)
    wakeAll(&self.arrivals);
  auto deadline = Clock::now() + timeout;
  for (size_t member = 0; member < ranks.size(); ++member) {
    std::string problem = waitFor(static_cast<int>(member), arrivals, deadline);
    if (!problem.empty())
      return problem;
  }
  return "";
}

std::string SharedMemory::waitFor(int member, uint32_t target, Clock::time_point deadline) {
  Member &other = members[member];
  // Differences, because the count may wrap around.
  auto came = [&] {
    return static_cast<int32_t>(other.arrivals.load(std::memory_order_acquire) - target) >= 0;
  };
  // A peer on another core comes in a moment; one that shares this core needs it to be given up.
  for (int i = 0; i < 64; ++i) {
    if (came())
      return "";
    sched_yield();
  }
  other.waiters.fetch_add(1);
  std::string problem;
  while (problem.empty()) {
    uint32_t seen = other.arrivals.load();
    if (static_cast<int32_t>(seen - target) >= 0)
      break;
    sleepWhile(&other.arrivals, seen, 200);
    if (came())
      break;
    if (watchProcesses && isGone(member) && !came()) // it may have come and ended since
      problem = fmt::format("rank {} is gone", ranks[member]);
    else if (Clock::now() > deadline)
      problem = fmt::format("rank {} did not come in time", ranks[member]);
  }
  other.waiters.fetch_sub(1);
  return problem;
}

} // namespace titan::rt
