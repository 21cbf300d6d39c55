#include "BackgroundReader.h"

#include <utility>

namespace titan::rt {

BackgroundReader::BackgroundReader(Batch first, Batch second, Read read)
    : read(std::move(read)), taken(std::move(first)), ahead(std::move(second)),
      thread([this] { loop(); }) {}

BackgroundReader::~BackgroundReader() {
  {
    std::lock_guard lock(mutex);
    isStopping = true;
  }
  requestAdded.notify_one();
  thread.join();
}

const Batch &BackgroundReader::take(int64_t sample, std::optional<int64_t> next) {
  std::unique_lock lock(mutex);
  if (requested != sample) {
    waitUntilRead(lock);
    request(sample);
  }
  waitUntilRead(lock);
  requested.reset();
  if (error)
    std::rethrow_exception(std::exchange(error, nullptr));
  std::swap(taken, ahead);
  if (next)
    request(*next);
  return taken;
}

void BackgroundReader::request(int64_t sample) {
  requested = sample;
  isRead = false;
  requestAdded.notify_one();
}

/// Waits until the thread has nothing to read.
void BackgroundReader::waitUntilRead(std::unique_lock<std::mutex> &lock) {
  readDone.wait(lock, [&] { return !requested || isRead; });
}

void BackgroundReader::loop() {
  std::unique_lock lock(mutex);
  while (true) {
    requestAdded.wait(lock, [&] { return isStopping || (requested && !isRead); });
    if (isStopping)
      return;
    const int64_t sample = *requested;
    lock.unlock();
    std::exception_ptr problem;
    try {
      read(sample, ahead);
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    error = problem;
    isRead = true;
    readDone.notify_one();
  }
}

} // namespace titan::rt
