// Coalesced collectives between threads that act as processes, each with its own mapping of the
// shared memory. With -fsanitize=thread the test finds races in the lanes.
#include "CommCollectives.h"
#include "ThreadRendezvous.h"

#include "comm/SelfGroup.h"
#include "comm/SharedMemoryGroup.h"

#include "base/Error.h"

#include "gtest/gtest.h"

#include <atomic>
#include <map>

using namespace titan;
using namespace titan::rt;

namespace {

/// Runs `body` on one thread per member.
void onMembers(int count, const std::function<void(Group &)> &body) {
  titan::test::ThreadStore store;
  std::vector<int> ranks(count);
  for (int i = 0; i < count; ++i)
    ranks[i] = i;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      titan::test::ThreadRendezvous rendezvous(store);
      size_t bytes = SharedMemoryGroup::slotBytes(count);
      auto memory = SharedMemory::connect(rendezvous, ranks, i, bytes);
      ASSERT_NE(memory, nullptr);
      SharedMemoryGroup group(ranks, i, std::move(memory), std::chrono::seconds(60));
      body(group);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(CollectiveCall, MovesSeveralValuesAtOnceAndInTheBackground) {
  for (int count : {2, 3}) {
    std::atomic<int64_t> wrong = 0;
    onMembers(count, [&](Group &group) { wrong += titan::test::checkCollectives(group); });
    EXPECT_EQ(wrong, 0) << count << " members";
  }
}

/// A group without coalesced collectives, so that buffers are packed.
class PackedGroup final : public Group {
public:
  explicit PackedGroup(Group &inner) : Group(inner.ranks(), inner.rank()), inner(inner) {}
  void allReduce(void *data, int64_t count, DType type, Reduction op, Site site) override {
    inner.allReduce(data, count, type, op, site);
  }
  void allGather(const void *in, void *out, int64_t count, DType type, Site site) override {
    inner.allGather(in, out, count, type, site);
  }
  void reduceScatter(const void *in, void *out, int64_t count, DType type, Reduction op,
                     Site site) override {
    inner.reduceScatter(in, out, count, type, op, site);
  }
  void allToAll(const void *in, void *out, int64_t count, DType type, Site site) override {
    inner.allToAll(in, out, count, type, site);
  }
  void permute(const void *in, void *out, int64_t count, DType type, Shift shift,
               Site site) override {
    inner.permute(in, out, count, type, shift, site);
  }
  void broadcast(void *data, int64_t count, DType type, int root, Site site) override {
    inner.broadcast(data, count, type, root, site);
  }
  void barrier(Site site) override { inner.barrier(site); }

private:
  Group &inner;
};

TEST(CollectiveCall, PacksForTransportsWithOneBuffer) {
  std::atomic<int64_t> wrong = 0;
  onMembers(2, [&](Group &group) {
    PackedGroup packed(group);
    wrong += titan::test::checkCollectives(packed);
  });
  EXPECT_EQ(wrong, 0);
}

TEST(CollectiveCall, OfOneMemberCopies) {
  SelfGroup self(0);
  EXPECT_EQ(titan::test::checkCollectives(self), 0);
}

/// Fails at the second call.
class FailingGroup final : public Group {
public:
  FailingGroup() : Group({0, 1}, 0) {}
  void allReduce(void *, int64_t, DType, Reduction, Site) override {
    if (++calls == 2)
      throw Fault("rank 1 is gone");
  }
  void allGather(const void *, void *, int64_t, DType, Site) override {}
  void reduceScatter(const void *, void *, int64_t, DType, Reduction, Site) override {}
  void allToAll(const void *, void *, int64_t, DType, Site) override {}
  void permute(const void *, void *, int64_t, DType, Shift, Site) override {}
  void broadcast(void *, int64_t, DType, int, Site) override {}
  void barrier(Site) override {}
  int calls = 0;
};

// The next wait throws the fault, and later calls are skipped.
TEST(LaneThread, ReportsFaultsAtTheNextWait) {
  FailingGroup group;
  titan::test::HostStaging staging;
  double value = 0;
  CollectiveCall call{CollectiveCall::AllReduce, &group, DType::F64, Reduction::Sum, {},
                      {{&value, &value, 1, 1}}};
  LaneThread background(staging);
  uint64_t first = background.start(call);
  EXPECT_NO_THROW(background.waitFor(first));
  background.start(call);
  uint64_t last = background.start(call);
  EXPECT_THROW(background.waitFor(last), Fault);
  EXPECT_THROW(background.drain(), Fault);
  EXPECT_EQ(group.calls, 2);
}

} // namespace
