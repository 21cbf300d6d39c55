#include "LaneThread.h"

#include "flight/FlightRecorder.h"
#include "profile/Trace.h"

namespace titan::rt {

LaneThread::LaneThread(Staging &staging, int number) : staging(staging), number(number) {
  for (CollectiveCall &slot : slots)
    slot.buffers.reserve(kBuffers);
  thread = std::thread([this] { loop(); });
}

LaneThread::~LaneThread() {
  {
    std::lock_guard lock(mutex);
    isStopping = true;
  }
  callStarted.notify_one();
  thread.join();
}

uint64_t LaneThread::start(const CollectiveCall &call) {
  std::unique_lock lock(mutex);
  callDone.wait(lock, [&] { return started - done < kSlots; });
  CollectiveCall &slot = slots[started % kSlots];
  std::vector<CollectiveBuffer> reused = std::move(slot.buffers);
  reused.assign(call.buffers.begin(), call.buffers.end());
  slot = {call.kind, call.group, call.type,  call.op,    call.site,
          {},        call.shift, call.trace, call.flight};
  if (slot.trace)
    slot.started = std::chrono::system_clock::now();
  slot.buffers = std::move(reused);
  ++started;
  callStarted.notify_one();
  return started;
}

void LaneThread::waitFor(uint64_t number) {
  std::unique_lock lock(mutex);
  callDone.wait(lock, [&] { return done >= number; });
  if (fault)
    std::rethrow_exception(fault);
}

bool LaneThread::isIdle() {
  std::lock_guard lock(mutex);
  return done == started;
}

std::exception_ptr LaneThread::perform(const CollectiveCall &call) {
  auto begin = std::chrono::system_clock::now();
  try {
    const RecordedCall recorded(call.flight, *call.group, call.site);
    execute(call, staging);
  } catch (...) {
    return std::current_exception();
  }
  if (call.trace)
    call.trace->collective(number, call.site.source, call.site.action, call.started, begin);
  return nullptr;
}

void LaneThread::loop() {
  std::unique_lock lock(mutex);
  while (true) {
    callStarted.wait(lock, [&] { return isStopping || done < started; });
    if (isStopping)
      return;
    const CollectiveCall &next = slots[done % kSlots];
    if (!fault) {
      lock.unlock();
      std::exception_ptr problem = perform(next);
      lock.lock();
      fault = problem;
    }
    ++done;
    callDone.notify_all();
  }
}

} // namespace titan::rt
