#include "Background.h"

#include "profile/Trace.h"

namespace titan::rt {

Background::Background(Staging &staging) : staging(staging) {
  for (Exchange &slot : slots)
    slot.shares.reserve(kValues);
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

uint64_t Background::start(const Exchange &exchange) {
  std::unique_lock lock(mutex);
  hasDone.wait(lock, [&] { return started - done < kSlots; });
  Exchange &slot = slots[started % kSlots];
  std::vector<Share> kept = std::move(slot.shares);
  kept.assign(exchange.shares.begin(), exchange.shares.end());
  slot = {exchange.kind, exchange.group, exchange.type, exchange.op, exchange.site, {},
          exchange.trace};
  if (slot.trace)
    slot.started = std::chrono::system_clock::now();
  slot.shares = std::move(kept);
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

std::exception_ptr Background::perform(const Exchange &exchange) {
  auto begin = std::chrono::system_clock::now();
  try {
    carryOut(exchange, staging);
  } catch (...) {
    return std::current_exception();
  }
  if (exchange.trace)
    exchange.trace->exchange(exchange.site.source, exchange.site.action, exchange.started, begin);
  return nullptr;
}

void Background::loop() {
  std::unique_lock lock(mutex);
  while (true) {
    hasWork.wait(lock, [&] { return stops || done < started; });
    if (stops)
      return;
    const Exchange &next = slots[done % kSlots];
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
