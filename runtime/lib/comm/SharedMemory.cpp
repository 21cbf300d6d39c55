#include "SharedMemory.h"

#include "MemoryFile.h"
#include "Rendezvous.h"

#include "base/data/DType.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <linux/futex.h>
#include <random>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

using Clock = std::chrono::steady_clock;

/// Sleeps while *word is `value`, up to `milliseconds`.
void sleepWhile(std::atomic<uint32_t> *word, uint32_t value, int milliseconds) {
  timespec limit{milliseconds / 1000, milliseconds % 1000 * 1000000L};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

void wakeAll(std::atomic<uint32_t> *word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Copies a text, or the end of one that is too long, because the end has the line number.
template <size_t size> void copyEnd(char (&to)[size], const char *text) {
  const size_t length = std::strlen(text), bytes = std::min(length, size - 1);
  std::memcpy(to, text + length - bytes, bytes);
  to[bytes] = '\0';
}

} // namespace

void SharedMemory::RecordedCall::set(const CallSignature &call) {
  copyEnd(name, *call.site.action ? call.site.action : call.operation);
  copyEnd(source, call.site.source);
  bytes = call.bytes;
  type = call.type;
}

/// Another process may write the record during this read, so texts may lack a terminating zero.
std::string SharedMemory::RecordedCall::describe() const {
  auto text = [](const auto &from) { return std::string(from, strnlen(from, sizeof(from))); };
  const std::string where = text(source);
  return fmt::format("{}{} of {} bytes{}", text(name), where.empty() ? "" : " (" + where + ")",
                     bytes, type <= DType::Bool ? std::string(" of ") + getName(type) : "");
}

std::unique_ptr<SharedMemory> SharedMemory::connect(Rendezvous &rendezvous,
                                                    const std::vector<int> &ranks, int position,
                                                    size_t bytes) {
  std::unique_ptr<SharedMemory> memory(new SharedMemory(ranks, position, bytes));
  std::string name = fmt::format("memory/{}", fmt::join(ranks, ","));
  bool mapped = position == 0 ? memory->offer(rendezvous, name) : memory->accept(rendezvous, name);
  rendezvous.publish(fmt::format("{}/{}", name, position), mapped ? "yes" : "no");
  bool all = true;
  for (size_t member = 0; member < ranks.size(); ++member)
    all &= rendezvous.lookup(fmt::format("{}/{}", name, member)) == "yes";
  if (!all)
    return nullptr;
  for (size_t member = 0; member < ranks.size(); ++member)
    memory->watchProcesses &= !memory->isGone(static_cast<int>(member));
  return memory;
}

/// On the first member: publishes a name, waits until the others connect to it, and sends them the
/// file.
bool SharedMemory::offer(Rendezvous &rendezvous, const std::string &name) {
  const int others = static_cast<int>(ranks.size()) - 1;
  std::random_device random;
  std::string socket = fmt::format("titan-{}-{:08x}{:08x}", getpid(), random(), random());
  Descriptor file = makeMemoryFile(totalBytes());
  Descriptor listener = file ? listenLocally(socket, others) : Descriptor();
  rendezvous.publish(name, listener ? socket : "");
  bool connected = static_cast<bool>(listener);
  for (int member = 1; member <= others; ++member)
    connected &= rendezvous.lookup(fmt::format("{}/{}/connected", name, member)) == "yes";
  if (connected)
    handOut(listener, file, others, Deadline(rendezvous.timeout()));
  return connected && map(file);
}

bool SharedMemory::accept(Rendezvous &rendezvous, const std::string &name) {
  std::string socket = rendezvous.lookup(name);
  Descriptor connection = socket.empty() ? Descriptor() : connectLocally(socket);
  rendezvous.publish(fmt::format("{}/{}/connected", name, position), connection ? "yes" : "no");
  Descriptor file =
      connection ? receiveMemoryFile(connection, totalBytes(), Deadline(rendezvous.timeout()))
                 : Descriptor();
  return file && map(file);
}

SharedMemory::~SharedMemory() {
  if (!memory)
    return;
  leave();
  ::munmap(memory, totalBytes());
}

void SharedMemory::leave() {
  members[position].hasLeft.store(1);
  wakeAll(&members[position].arrivals);
}

bool SharedMemory::map(const Descriptor &file) {
  void *mapped = ::mmap(nullptr, totalBytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED)
    return false;
  memory = mapped;
  members = static_cast<Member *>(mapped); // zeros are a valid initial state
  slots = static_cast<std::byte *>(mapped) + ranks.size() * sizeof(Member);
  members[position].process = getpid();
  return true;
}

/// Whether the member's process has ended, including a zombie.
bool SharedMemory::isGone(int member) const {
  std::ifstream stat(fmt::format("/proc/{}/stat", members[member].process));
  std::string text;
  if (!std::getline(stat, text))
    return true;
  size_t name = text.rfind(')');
  char state = name == std::string::npos || name + 2 >= text.size() ? '?' : text[name + 2];
  return state == 'Z' || state == 'X';
}

SharedMemory::Problem SharedMemory::barrier(const CallSignature &call,
                                            std::chrono::seconds timeout) {
  Member &self = members[position];
  ++arrivals;
  self.signature[arrivals % 2] = computeHash(call);
  self.recorded[arrivals % 2].set(call);
  self.arrivals.store(arrivals);
  if (self.waiters.load() != 0)
    wakeAll(&self.arrivals);
  auto deadline = Clock::now() + timeout;
  for (size_t member = 0; member < ranks.size(); ++member) {
    Problem problem = waitFor(static_cast<int>(member), arrivals, deadline);
    if (!problem.text.empty())
      return problem;
  }
  return compareCalls();
}

SharedMemory::Problem SharedMemory::compareCalls() const {
  const size_t parity = arrivals % 2;
  const Member &self = members[position];
  for (size_t member = 0; member < ranks.size(); ++member)
    if (members[member].signature[parity] != self.signature[parity])
      return {
          fmt::format("the ranks call different collectives: rank {} calls {}, rank {} calls {}",
                      ranks[position], self.recorded[parity].describe(), ranks[member],
                      members[member].recorded[parity].describe()),
          {ranks[member], false}};
  return {};
}

SharedMemory::Problem SharedMemory::waitFor(int member, uint32_t target,
                                            Clock::time_point deadline) {
  Member &other = members[member];
  // A difference, because the count may wrap around.
  auto hasArrived = [&] {
    return static_cast<int32_t>(other.arrivals.load(std::memory_order_acquire) - target) >= 0;
  };
  // Yields before it sleeps: a peer on the same core needs the core to arrive.
  for (int i = 0; i < 64; ++i) {
    if (hasArrived())
      return {};
    sched_yield();
  }
  other.waiters.fetch_add(1);
  Problem problem;
  while (problem.text.empty()) {
    uint32_t seen = other.arrivals.load();
    if (static_cast<int32_t>(seen - target) >= 0)
      break;
    sleepWhile(&other.arrivals, seen, 200);
    if (hasArrived())
      break;
    const bool isOver = other.hasLeft.load() != 0 || (watchProcesses && isGone(member));
    if (members[position].hasLeft.load() != 0)
      problem.text = "this rank has left the process group";
    else if (isOver && !hasArrived()) // the member may have arrived before it ended
      problem = {fmt::format("rank {} is gone", ranks[member]), {ranks[member], true}};
    else if (Clock::now() > deadline)
      problem = {fmt::format("rank {} did not come in time", ranks[member]),
                 {ranks[member], false}};
  }
  other.waiters.fetch_sub(1);
  return problem;
}

} // namespace titan::rt
