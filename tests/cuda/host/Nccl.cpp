// NCCL collectives between processes of one machine: each writes its data into a slot of shared
// memory; after a barrier, each reads the slots of others; another barrier follows. Each of these
// steps is separate work of the group's stream, so groups proceed independently (Streams.h).
#include "Capture.h"
#include "Memory.h"
#include "Streams.h"
#include "Torch.h"

#include "process_group.h"

#include "titan/runtime/bfloat16.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <stdexcept>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace cuda_host;
using titan::rt::bf16;

namespace {

constexpr size_t kSlotBytes = size_t{64} << 20; // only used pages take memory
constexpr int kMostMembers = 16;                // so that counters and message ends fit into a page
constexpr std::chrono::seconds kPatience{120};  // for peers

/// Calls `body` with a null pointer to the type.
template <typename Body> void withType(at::ScalarType type, Body body) {
  switch (type) {
  case at::kFloat:
    return body(static_cast<float *>(nullptr));
  case at::kDouble:
    return body(static_cast<double *>(nullptr));
  case at::kBFloat16:
    return body(static_cast<bf16 *>(nullptr));
  case at::kLong:
    return body(static_cast<int64_t *>(nullptr));
  case at::kBool:
    return body(static_cast<bool *>(nullptr));
  }
}

template <typename T> T combine(T a, T b, c10d::ReduceOp::RedOpType op) {
  return op == c10d::ReduceOp::SUM ? T(a + b) : (op == c10d::ReduceOp::MAX) == (b > a) ? b : a;
}

} // namespace

namespace c10d {

void Work::wait() {
  queueWait(currentStream, stream, number);
}
bool Work::isCompleted() const {
  refuseWhileCapturing("cudaEventQuery");
  return lastFinished(stream) >= number;
}

/// The state that members share, apart from `arrived`: how often this member has been at a barrier.
struct ProcessGroupNCCL::Shared {
  std::atomic<uint64_t> *arrivals;
  int64_t *messageEnds; // within each member's slot, of the messages of an all-to-all
  std::byte *slots;
  uint64_t arrived = 0;
  int64_t *ends(int member) const { return messageEnds + member * kMostMembers; }
  std::byte *slot(int member) const { return slots + member * kSlotBytes; }
};

ProcessGroupNCCL::ProcessGroupNCCL(c10::intrusive_ptr<Store>, int rank, int size,
                                   c10::intrusive_ptr<Options> options)
    : name(options->group_name), position(rank), size(size), shared(std::make_unique<Shared>()) {}

/// torchrun assigns a port to each run, which names its memory too.
void ProcessGroupNCCL::eagerConnectSingleDevice(c10::Device) {
  refuseWhileCapturing("ncclCommInitRankConfig");
  const char *port = std::getenv("MASTER_PORT");
  const std::string run = port && size > 1 ? port : "alone-" + std::to_string(getpid());
  const std::string file =
      "/titan-cuda-host-" + run + "-" + std::to_string(std::hash<std::string>()(name));
  if (size > kMostMembers)
    fail("a group of %d members is too large here", size);
  const size_t bytes = 4096 + size * kSlotBytes;
  const int memory = shm_open(file.c_str(), O_CREAT | O_RDWR, 0600);
  if (memory < 0 || ftruncate(memory, static_cast<off_t>(bytes)) != 0)
    fail("no shared memory %s", file.c_str());
  void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  close(memory);
  if (mapped == MAP_FAILED)
    fail("no shared memory %s", file.c_str());
  shared->arrivals = static_cast<std::atomic<uint64_t> *>(mapped);
  shared->messageEnds = static_cast<int64_t *>(mapped) + 8;
  shared->slots = static_cast<std::byte *>(mapped) + 4096;
  meet();
  shm_unlink(file.c_str()); // it persists until nobody maps it
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  stream->progresses = true;
}

ProcessGroupNCCL::~ProcessGroupNCCL() = default;

void ProcessGroupNCCL::arrive() {
  ++shared->arrived;
  ++*shared->arrivals;
}

bool ProcessGroupNCCL::isComplete() const {
  return *shared->arrivals >= shared->arrived * static_cast<uint64_t>(size);
}

void ProcessGroupNCCL::meet() {
  arrive();
  awaitOthers();
}

void ProcessGroupNCCL::awaitOthers() {
  const auto begin = std::chrono::steady_clock::now();
  for (; !isComplete(); std::this_thread::yield()) {
    progressOthers();
    if (std::chrono::steady_clock::now() - begin > kPatience)
      fail("a collective's peers do not come");
  }
}

/// Queues collectives after the work of the current stream; the host continues without waiting.
ProcessGroupNCCL::Started ProcessGroupNCCL::start(const std::vector<Collective> &collectives) {
  if (!stream)
    eagerConnectSingleDevice({});
  queueWait(stream, currentStream, lastQueued(currentStream));
  auto queueBarrier = [this] {
    queueWork(stream, [this] { awaitOthers(); }, [this] { return isComplete(); });
  };
  for (const Collective &collective : collectives) {
    queueWork(stream, [this, give = collective.give] {
      give();
      arrive();
    });
    queueBarrier();
    queueWork(stream, [this, take = collective.take] {
      take();
      arrive(); // nobody reads the slots any more
    });
    queueBarrier();
  }
  return last = c10::make_intrusive<Work>(stream, lastQueued(stream));
}

/// Fills this member's slot.
void ProcessGroupNCCL::give(const at::Tensor &from) {
  const size_t bytes = from.count * getByteSize(from.type);
  if (bytes > kSlotBytes)
    fail("a collective of %zu bytes is too large here", bytes);
  checkRead(from.data, bytes, "a collective");
  std::memcpy(shared->slot(position), from.data, bytes);
}

/// Reduces the slots' elements from `start` into `to`.
void ProcessGroupNCCL::reduce(const at::Tensor &to, int64_t start, ReduceOp::RedOpType op) {
  checkWrite(to.data, to.count * getByteSize(to.type), "a collective");
  withType(to.type, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    for (int64_t i = 0; i < to.count; ++i) {
      T total = reinterpret_cast<T *>(shared->slot(0))[start + i];
      for (int member = 1; member < size; ++member)
        total = combine(total, reinterpret_cast<T *>(shared->slot(member))[start + i], op);
      static_cast<T *>(to.data)[i] = total;
    }
  });
  markWritten(to.data, to.count * getByteSize(to.type));
}

namespace {

/// Copies `count` elements of a slot from `start` to `to` at `at`.
void take(const std::byte *slot, int64_t start, const at::Tensor &to, int64_t at, int64_t count) {
  const size_t size = getByteSize(to.type);
  auto *target = static_cast<std::byte *>(to.data) + at * size;
  checkWrite(target, count * size, "a collective");
  std::memcpy(target, slot + start * size, count * size);
  markWritten(target, count * size);
}

} // namespace

ProcessGroupNCCL::Started
ProcessGroupNCCL::allreduce_coalesced(Tensors &tensors, const AllreduceCoalescedOptions &options) {
  std::vector<Collective> collectives;
  for (const at::Tensor &tensor : tensors)
    collectives.push_back({[this, tensor] { give(tensor); },
                           [this, tensor, op = options.reduceOp] { reduce(tensor, 0, op); }});
  return start(collectives);
}
ProcessGroupNCCL::Started ProcessGroupNCCL::allreduce(Tensors &tensors,
                                                      const AllreduceOptions &options) {
  return allreduce_coalesced(tensors, options);
}

ProcessGroupNCCL::Started ProcessGroupNCCL::allgather_into_tensor_coalesced(Tensors &to,
                                                                            Tensors &from) {
  std::vector<Collective> collectives;
  for (size_t i = 0; i < to.size(); ++i)
    collectives.push_back({[this, one = from[i]] { give(one); },
                           [this, whole = to[i], count = from[i].count] {
                             for (int member = 0; member < size; ++member)
                               take(shared->slot(member), 0, whole, member * count, count);
                           }});
  return start(collectives);
}
ProcessGroupNCCL::Started ProcessGroupNCCL::_allgather_base(at::Tensor &to, at::Tensor &from) {
  Tensors tos{to}, froms{from};
  return allgather_into_tensor_coalesced(tos, froms);
}

ProcessGroupNCCL::Started
ProcessGroupNCCL::reduce_scatter_tensor_coalesced(Tensors &to, Tensors &from,
                                                  const ReduceScatterOptions &options) {
  std::vector<Collective> collectives;
  for (size_t i = 0; i < to.size(); ++i)
    collectives.push_back(
        {[this, whole = from[i]] { give(whole); },
         [this, one = to[i], op = options.reduceOp] { reduce(one, position * one.count, op); }});
  return start(collectives);
}
ProcessGroupNCCL::Started
ProcessGroupNCCL::_reduce_scatter_base(at::Tensor &to, at::Tensor &from,
                                       const ReduceScatterOptions &options) {
  Tensors tos{to}, froms{from};
  return reduce_scatter_tensor_coalesced(tos, froms, options);
}

ProcessGroupNCCL::Started ProcessGroupNCCL::alltoall_base(at::Tensor &to, at::Tensor &from,
                                                          const std::vector<int64_t> &received,
                                                          const std::vector<int64_t> &sent) {
  const std::vector<int64_t> takes =
      received.empty() ? std::vector<int64_t>(size, to.count / size) : received;
  const std::vector<int64_t> gives =
      sent.empty() ? std::vector<int64_t>(size, from.count / size) : sent;
  auto giveAll = [this, from, gives] {
    int64_t *ends = shared->ends(position), end = 0;
    for (int member = 0; member < size; ++member)
      ends[member] = end += gives[member];
    give(from);
  };
  auto takeAll = [this, to, takes] {
    int64_t at = 0;
    for (int member = 0; member < size; ++member) {
      const int64_t begin = position ? shared->ends(member)[position - 1] : 0;
      if (shared->ends(member)[position] - begin != takes[member])
        fail("an all-to-all receives %zu elements where others are sent", size_t(takes[member]));
      take(shared->slot(member), begin, to, at, takes[member]);
      at += takes[member];
    }
  };
  return start({{giveAll, takeAll}});
}

ProcessGroupNCCL::Started ProcessGroupNCCL::broadcast(Tensors &tensors,
                                                      const BroadcastOptions &options) {
  return start({{[this, tensor = tensors[0]] { give(tensor); },
                 [this, tensor = tensors[0], root = options.rootRank] {
                   take(shared->slot(root), 0, tensor, 0, tensor.count);
                 }}});
}

ProcessGroupNCCL::Started ProcessGroupNCCL::barrier(const BarrierOptions &) {
  return start({{[] {}, [] {}}});
}

} // namespace c10d
