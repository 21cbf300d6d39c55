// Reads the batches of a run in a separate thread, one batch ahead: while the program computes a
// step, the thread reads the batch of the next step. The caller names that batch, so the order of
// samples and the position of a run do not depend on the thread. Two batches are in memory; reading
// allocates nothing after the first ones.
//
// take() throws the error of the thread that read its batch.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace titan::rt {

/// This rank's shards of a batch, in memory of the host, one for each input that the rank has.
using Batch = std::vector<std::vector<std::byte>>;

class BackgroundReader {
public:
  /// Reads the batch that starts at a sample.
  using Read = std::function<void(int64_t sample, Batch &batch)>;

  /// The thread calls `read`, with one of the two batches at a time.
  BackgroundReader(Batch first, Batch second, Read read);
  ~BackgroundReader();
  BackgroundReader(const BackgroundReader &) = delete;
  BackgroundReader &operator=(const BackgroundReader &) = delete;

  /// The batch that starts at `sample`, valid until the next call. Waits for it, and reads it first
  /// if it is not the `next` of the call before. Then the thread reads the batch that starts at
  /// `next`, if there is one.
  const Batch &take(int64_t sample, std::optional<int64_t> next);

private:
  void loop();
  void request(int64_t sample);
  void waitUntilRead(std::unique_lock<std::mutex> &lock);

  Read read;
  Batch taken; // the latest result of take()
  Batch ahead; // the thread writes it while it reads
  std::mutex mutex;
  std::condition_variable requestAdded, readDone;
  std::optional<int64_t> requested; // the first sample of `ahead`
  bool isRead = false, isStopping = false;
  std::exception_ptr error; // of the latest read
  std::thread thread;
};

} // namespace titan::rt
