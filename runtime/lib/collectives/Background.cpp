#include "Background.h"

#include "profile/Trace.h"

namespace titan::rt {

Background::Background(Staging &staging, int number) : staging(staging), number(number) {
  for (CollectiveCall &slot : slots)
    slot.buffers.reserve(kValues);
  thread = std::thread([this] { loop(); });
}

Background::~Background() {
  {
    std::lock_guard lock(mutex);
    stops = true;
  }
  hasWork.notify_one();
  thread.join();
}

uint64_t Background::start(const CollectiveCall &call) {
  std::unique_lock lock(mutex);
  hasDone.wait(lock, [&] { return started - done < kSlots; });
  CollectiveCall &slot = slots[started % kSlots];
  std::vector<CollectiveBuffer> reused = std::move(slot.buffers);
  reused.assign(call.buffers.begin(), call.buffers.end());
  slot = {call.kind, call.group, call.type, call.op, call.site, {}, call.shift, call.trace};
  if (slot.trace)
    slot.started = std::chrono::system_clock::now();
  slot.buffers = std::move(reused);
  ++started;
  hasWork.notify_one();
  return started;
}

void Background::waitFor(uint64_t number) {
  std::unique_lock lock(mutex);
  hasDone.wait(lock, [&] { return done >= number; });
  if (fault)
    std::rethrow_exception(fault);
}

bool Background::isIdle() {
  std::lock_guard lock(mutex);
  return done == started;
}

std::exception_ptr Background::perform(const CollectiveCall &call) {
  auto begin = std::chrono::system_clock::now();
  try {
    execute(call, staging);
  } catch (...) {
    return std::current_exception();
  }
  if (call.trace)
    call.trace->collective(number, call.site.source, call.site.action, call.started, begin);
  return nullptr;
}

void Background::loop() {
  std::unique_lock lock(mutex);
  while (true) {
    hasWork.wait(lock, [&] { return stops || done < started; });
    if (stops)
      return;
    const CollectiveCall &next = slots[done % kSlots];
    if (!fault) {
      lock.unlock();
      std::exception_ptr problem = perform(next);
      lock.lock();
      fault = problem;
    }
    ++done;
    hasDone.notify_all();
  }
}

} // namespace titan::rt
