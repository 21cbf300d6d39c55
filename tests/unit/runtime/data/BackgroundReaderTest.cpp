// Batches that a thread reads before they are needed.
#include "data/BackgroundReader.h"

#include "base/Error.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>

using namespace titan;
using namespace titan::rt;

namespace {

Batch makeBatch() {
  return {std::vector<std::byte>(sizeof(int64_t))};
}

int64_t getValue(const Batch &batch) {
  int64_t value;
  std::memcpy(&value, batch[0].data(), sizeof(value));
  return value;
}

/// A batch holds the number of its first sample. Counts the reads.
struct Samples {
  void read(int64_t sample, Batch &batch) {
    ++reads;
    std::memcpy(batch[0].data(), &sample, sizeof(sample));
  }
  BackgroundReader::Read reader() {
    return [this](int64_t sample, Batch &batch) { read(sample, batch); };
  }
  std::atomic<int> reads = 0;
};

// The caller gets the batch that it asks for, each read once, and nothing is read after the last.
TEST(BackgroundReader, GivesBatchesInOrder) {
  Samples samples;
  {
    BackgroundReader reader(makeBatch(), makeBatch(), samples.reader());
    for (int64_t sample = 0; sample < 400; sample += 4)
      EXPECT_EQ(getValue(reader.take(sample,
                                     sample + 4 < 400 ? std::optional(sample + 4) : std::nullopt)),
                sample);
  }
  EXPECT_EQ(samples.reads, 100);
}

// A batch that was read ahead is dropped if the caller asks for another one.
TEST(BackgroundReader, JumpsToAnotherSample) {
  Samples samples;
  BackgroundReader reader(makeBatch(), makeBatch(), samples.reader());
  EXPECT_EQ(getValue(reader.take(0, 4)), 0);
  EXPECT_EQ(getValue(reader.take(100, 104)), 100);
  EXPECT_EQ(getValue(reader.take(104, std::nullopt)), 104);
  EXPECT_EQ(getValue(reader.take(8, std::nullopt)), 8);
}

// The thread reads the next batch before the caller asks for it, and leaves the caller's alone.
TEST(BackgroundReader, ReadsAhead) {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<int64_t> read;
  BackgroundReader reader(makeBatch(), makeBatch(), [&](int64_t sample, Batch &batch) {
    std::memcpy(batch[0].data(), &sample, sizeof(sample));
    std::lock_guard lock(mutex);
    read.insert(sample);
    changed.notify_one();
  });
  const Batch &first = reader.take(0, 4);
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(30), [&] { return read.count(4) > 0; }));
  EXPECT_EQ(getValue(first), 0);
}

// An error belongs to the batch that could not be read: the one before arrives, and so does that of
// another attempt.
TEST(BackgroundReader, ThrowsWhenTheBatchIsTaken) {
  Samples samples;
  std::atomic<bool> isDamaged = true;
  BackgroundReader reader(makeBatch(), makeBatch(), [&](int64_t sample, Batch &batch) {
    if (sample == 4 && isDamaged)
      throw UserError("'web.bin' is damaged");
    samples.read(sample, batch);
  });
  EXPECT_EQ(getValue(reader.take(0, 4)), 0);
  try {
    reader.take(4, 8);
    FAIL() << "expected an error";
  } catch (const UserError &error) {
    EXPECT_STREQ(error.what(), "'web.bin' is damaged");
  }
  isDamaged = false;
  EXPECT_EQ(getValue(reader.take(4, 8)), 4);
  EXPECT_EQ(getValue(reader.take(8, std::nullopt)), 8);
}

// A reader may end while its thread reads, and without any request.
TEST(BackgroundReader, EndsAtAnyTime) {
  Samples samples;
  for (int i = 0; i < 50; ++i) {
    BackgroundReader reader(makeBatch(), makeBatch(), samples.reader());
    if (i % 2)
      reader.take(0, 4);
  }
}

} // namespace
