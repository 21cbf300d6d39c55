// Runs kernels: the blocks of a grid in sequence, and the threads of a block as fibers of a single
// thread. Fibers switch where they wait for each other, in a fixed order.
#include "Kernels.h"
#include "Capture.h"
#include "Memory.h"
#include "Streams.h"

#include "cuda_runtime.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <set>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

namespace cuda_host {

BuiltIn builtIn;
KernelState running;

namespace {

constexpr size_t kStackBytes = 128 * 1024, kMostThreads = 1024, kWarp = 32;
constexpr size_t kMostArguments = 4096,
                 kMostShared = 48 * 1024; // bytes; the shared memory of every device

/// What a thread waits for: its start, nothing (it can run), a barrier of its block, or a shuffle
/// of its warp.
enum class Wait { Start, Nothing, Barrier, Warp, Done };

/// A stack on which threads run, one after the other.
struct Fiber {
  jmp_buf state;
  bool begun = false;
};

struct Thread {
  Wait wait = Wait::Start;
  int fiber = -1;
  std::source_location where; // of the barrier
  unsigned shuffles = 0;      // so far
  // Its operands of the last two shuffles: a thread may be at the next one before others have read.
  std::array<std::array<char, 8>, 2> shuffled;
};

std::set<const void *> loaded; // kernels loaded onto the device
std::array<Fiber, kMostThreads> fibers;
std::vector<int> idle; // fibers without a thread
std::vector<Thread> threads;
jmp_buf scheduler;
const Kernel *kernel = nullptr;
dim3 blockSize;

/// Each iteration runs one thread. Its arguments are copied to its stack, which it may read.
[[gnu::noinline]] void runThread() {
  alignas(16) char arguments[kMostArguments];
  std::memcpy(arguments, kernel->arguments, kernel->bytes);
  running.active = true;
  kernel->call(arguments);
  running.active = false;
}
void fiberMain() {
  for (;;) {
    runThread();
    threads[running.thread].wait = Wait::Done;
    const int fiber = threads[running.thread].fiber;
    idle.push_back(fiber);
    if (_setjmp(fibers[fiber].state) == 0)
      _longjmp(scheduler, 1);
  }
}

void beginFiber(size_t index) {
  static ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = running.stacks + index * kStackBytes;
  context.uc_stack.ss_size = kStackBytes;
  fibers[index].begun = true;
  makecontext(&context, fiberMain, 0);
  setcontext(&context);
}

/// Runs one thread until it waits or ends.
[[gnu::noinline]] void resume(size_t index) {
  Thread &thread = threads[index];
  running.thread = static_cast<uint16_t>(index);
  const auto at = static_cast<unsigned>(index);
  builtIn.thread = {at % blockSize.x, at / blockSize.x % blockSize.y,
                    at / blockSize.x / blockSize.y};
  if (thread.wait == Wait::Start) {
    thread.fiber = idle.back();
    idle.pop_back();
  }
  const bool inKernel = thread.wait != Wait::Start;
  thread.wait = Wait::Nothing;
  if (_setjmp(scheduler) != 0) {
    running.active = false;
    return;
  }
  running.active = inKernel;
  if (!fibers[thread.fiber].begun)
    beginFiber(thread.fiber);
  _longjmp(fibers[thread.fiber].state, 1);
}

/// Suspends the running thread for another one.
[[gnu::noinline]] void suspend(Wait what) {
  Thread &thread = threads[running.thread];
  thread.wait = what;
  if (_setjmp(fibers[thread.fiber].state) == 0)
    _longjmp(scheduler, 1);
}

/// Runs a warp's threads until all wait for the block or have ended.
void runWarp(size_t first, size_t end) {
  for (;;) {
    size_t waiting = 0;
    for (size_t i = first; i < end; ++i) {
      if (threads[i].wait == Wait::Start || threads[i].wait == Wait::Nothing)
        resume(i);
      waiting += threads[i].wait == Wait::Warp;
    }
    if (waiting == 0)
      return;
    if (waiting < kWarp)
      fail("%zu of %zu threads of a warp reach a shuffle", waiting, kWarp);
    for (size_t i = first; i < end; ++i)
      threads[i].wait = Wait::Nothing;
  }
}

/// Releases a block's threads if all wait at the same barrier. False: all have ended.
bool passBarrier() {
  size_t waiting = 0;
  const Thread *one = nullptr;
  for (const Thread &thread : threads)
    if (thread.wait == Wait::Barrier) {
      ++waiting;
      one = one ? one : &thread;
      if (thread.where.line() != one->where.line() ||
          std::strcmp(thread.where.file_name(), one->where.file_name()) != 0)
        fail("threads of a block wait at different barriers: %s:%u and %s:%u",
             one->where.file_name(), one->where.line(), thread.where.file_name(),
             thread.where.line());
    }
  if (waiting == 0)
    return false;
  if (waiting < threads.size())
    fail("%zu of %zu threads of a block reach the barrier at %s:%u", waiting, threads.size(),
         one->where.file_name(), one->where.line());
  for (Thread &thread : threads)
    thread.wait = Wait::Nothing;
  return true;
}

void runBlock() {
  running.blockBegan = ++running.interval;
  threads.assign(threads.size(), {});
  do {
    for (size_t first = 0; first < threads.size(); first += kWarp)
      runWarp(first, std::min(first + kWarp, threads.size()));
    ++running.interval;
  } while (passBarrier());
}

void runGrid(const Config &config, const Kernel &whole) {
  kernel = &whole;
  blockSize = config.block;
  builtIn.blockSize = config.block;
  builtIn.gridSize = config.grid;
  running.launchBegan = running.interval + 1;
  threads.resize(size_t{config.block.x} * config.block.y * config.block.z);
  for (unsigned z = 0; z < config.grid.z; ++z)
    for (unsigned y = 0; y < config.grid.y; ++y)
      for (unsigned x = 0; x < config.grid.x; ++x) {
        builtIn.block = {x, y, z};
        runBlock();
      }
  kernel = nullptr;
}

void makeStacks() {
  running.stackBytes = kMostThreads * kStackBytes;
  void *mapped = mmap(nullptr, running.stackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    fail("no memory for the threads' stacks");
  running.stacks = static_cast<std::byte *>(mapped);
  for (size_t i = kMostThreads; i-- > 0;)
    idle.push_back(static_cast<int>(i));
}

bool isLaunchable(const Config &c) {
  const size_t size = size_t{c.block.x} * c.block.y * c.block.z;
  return size > 0 && size <= kMostThreads && c.block.z <= 64 && c.grid.x > 0 && c.grid.y > 0 &&
         c.grid.z > 0 && c.grid.x <= 0x7fffffff && c.grid.y <= 65535 && c.grid.z <= 65535 &&
         c.shared <= kMostShared;
}

} // namespace

void queue(const Config &config, const Kernel &given) {
  if (given.bytes > kMostArguments)
    fail("a kernel has %zu bytes of arguments", given.bytes);
  if (!isLaunchable(config))
    return setLastError(cudaErrorInvalidConfiguration);
  if (!loaded.count(given.function)) {
    if (cudaError_t error = forbidWhileCapturing("a kernel's first launch, which loads it"))
      return setLastError(error);
    loadKernel(given.function);
  }
  auto *bytes = static_cast<const char *>(given.arguments);
  std::shared_ptr<std::vector<char>> copy =
      std::make_shared<std::vector<char>>(bytes, bytes + given.bytes);
  queueWork(config.stream, [=, kernel = given]() mutable {
    if (!running.stacks)
      makeStacks();
    kernel.arguments = copy->data();
    runGrid(config, kernel);
  });
}

void loadKernel(const void *function) {
  loaded.insert(function);
}

unsigned getThreadLane() {
  return running.thread % kWarp;
}

void exchange(unsigned mask, void *value, size_t bytes, unsigned lane) {
  if (mask != ~0u)
    fail("shuffles of some lanes are not emulated");
  Thread &self = threads[running.thread];
  const unsigned turn = self.shuffles++ % 2;
  std::memcpy(self.shuffled[turn].data(), value, bytes);
  const size_t first = running.thread / kWarp * kWarp;
  suspend(Wait::Warp);
  std::memcpy(value, threads[first + lane].shuffled[turn].data(), bytes);
}

void fail(const char *format, ...) {
  std::fflush(stdout);
  std::fprintf(stderr, "cuda host: ");
  std::va_list rest;
  va_start(rest, format);
  std::vfprintf(stderr, format, rest);
  va_end(rest);
  if (kernel) {
    int status = 0;
    char *name = abi::__cxa_demangle(kernel->name->name(), nullptr, nullptr, &status);
    std::fprintf(stderr, "\n  block %u, thread %u of %s", builtIn.block.x, unsigned{running.thread},
                 name ? name : kernel->name->name());
  }
  std::fprintf(stderr, "\n");
  _exit(97);
}

} // namespace cuda_host

void __syncthreads(std::source_location where) {
  using namespace cuda_host;
  threads[running.thread].where = where;
  suspend(Wait::Barrier);
}
