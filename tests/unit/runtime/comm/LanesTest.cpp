// Collectives and messages of a program between threads that act as processes, each with its own
// world over shared memory. With -fsanitize=thread the test finds races in the lanes.
#include "ThreadRendezvous.h"

#include "collectives/Collectives.h"
#include "collectives/Traffic.h"
#include "comm/SelfGroup.h"
#include "comm/SharedMemoryGroup.h"
#include "device/Device.h"

#include "base/Error.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

using namespace titan;
using namespace titan::rt;

namespace {

/// The world of one thread.
class ThreadWorld final : public World {
public:
  ThreadWorld(titan::test::ThreadStore &store, int rank, int size) : meeting(store) {
    info.rank = rank;
    info.worldSize = info.localWorldSize = size;
  }
  const LaunchInfo &launch() const override { return info; }
  const CommOptions &options() const override { return limits; }
  Rendezvous *rendezvous() override { return &meeting; }
  Group &group(const std::vector<int> &ranks) override {
    std::unique_ptr<Group> &slot = groups[ranks];
    if (!slot)
      slot = make(ranks);
    return *slot;
  }

protected:
  void leaveGroups() override { groups.clear(); }

private:
  std::unique_ptr<Group> make(const std::vector<int> &ranks) {
    if (ranks.size() == 1)
      return std::make_unique<SelfGroup>(info.rank);
    const int position =
        static_cast<int>(std::find(ranks.begin(), ranks.end(), info.rank) - ranks.begin());
    auto memory =
        SharedMemory::connect(meeting, ranks, position, SharedMemoryGroup::slotBytes(ranks.size()));
    return std::make_unique<SharedMemoryGroup>(ranks, position, std::move(memory),
                                               std::chrono::seconds(60));
  }

  LaunchInfo info;
  CommOptions limits;
  titan::test::ThreadRendezvous meeting;
  std::map<std::vector<int>, std::unique_ptr<Group>> groups;
};

/// Runs `body` on one thread per rank of a mesh with these degrees.
void onRanks(const std::vector<MeshAxis> &axes, const std::vector<MessageRoute> &routes,
             const std::function<void(Context &, int)> &body) {
  titan::test::ThreadStore store;
  const Mesh mesh(axes);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < mesh.size(); ++rank)
    threads.emplace_back([&, rank] {
      ThreadWorld world(store, rank, mesh.size());
      auto device = makeDevice(world.launch());
      Collectives collectives(world, mesh, *device);
      collectives.connect(routes);
      Context context;
      context.collectives = &collectives;
      body(context, rank);
    });
  for (std::thread &thread : threads)
    thread.join();
}

// Every rank starts its messages to both sides before it receives any, and the ranks start their
// collectives of two groups in different orders. One thread for all groups would wait forever.
TEST(Lanes, DoNotWaitForOtherGroups) {
  const std::vector<MessageRoute> routes = {{{0}, 1}, {{0}, -1}, {{0}, 2}};
  onRanks({{"pp", 4}, {"tp", 2}}, routes, [](Context &ctx, int rank) {
    const int stage = rank / 2;
    for (int round = 0; round < 20; ++round) {
      double sent = 100 * round + rank, fromEarlier = -1, fromLater = -1, fromFar = -1;
      double inStage = rank, overStages = rank;
      send(ctx, over<0>(), DType::F64, 1, &sent, 1, 0);
      send(ctx, over<0>(), DType::F64, -1, &sent, 1, 1);
      send(ctx, over<0>(), DType::F64, 2, &sent, 1, 2);
      auto startInStage = [&] {
        allReduce(ctx, over<1>(), DType::F64, Reduction::Sum, {{&inStage, &inStage, 1, 1, 1}}, 3);
      };
      if (rank < 2)
        startInStage();
      allReduce(ctx, over<0>(), DType::F64, Reduction::Sum, {{&overStages, &overStages, 1, 1, 1}},
                4);
      if (rank >= 2)
        startInStage();
      receive(ctx, over<0>(), DType::F64, 2, &fromFar, 1);
      receive(ctx, over<0>(), DType::F64, -1, &fromLater, 1, 5);
      receive(ctx, over<0>(), DType::F64, 1, &fromEarlier, 1, 6);
      for (int channel = 0; channel <= 6; ++channel)
        finish(ctx, channel);
      EXPECT_EQ(fromEarlier, stage > 0 ? sent - 2 : -1);
      EXPECT_EQ(fromLater, stage < 3 ? sent + 2 : -1);
      EXPECT_EQ(fromFar, stage > 1 ? sent - 4 : -1);
      EXPECT_EQ(inStage, 4 * stage + 1);
      EXPECT_EQ(overStages, 4 * (rank % 2) + 12);
    }
  });
}

// Keys and values go around the ring while the program computes; each rank sees every shard once.
TEST(Lanes, PassShardsAroundARing) {
  onRanks({{"cp", 3}}, {}, [](Context &ctx, int rank) {
    std::vector<double> keys(1000, rank), values(10, 10 * rank), nextKeys(1000), nextValues(10);
    double seen = 0;
    for (int step = 0; step < 3; ++step) {
      permute(ctx, over<0>(), DType::F64, 1,
              {{keys.data(), nextKeys.data(), 1, 1000, 1},
               {values.data(), nextValues.data(), 1, 10, 1}},
              0);
      seen += keys[999] + values[9];
      finish(ctx, 0);
      keys.swap(nextKeys);
      values.swap(nextValues);
      EXPECT_EQ(keys.front(), (rank + 2 - step) % 3);
    }
    EXPECT_EQ(seen, 33);
  });
}

// An all-to-all in flight: [seq shard, heads] to [seq, heads shard] and back.
TEST(Lanes, MoveShardsBetweenDimensions) {
  onRanks({{"cp", 2}}, {}, [](Context &ctx, int rank) {
    constexpr int64_t seq = 6, heads = 4, width = 5;
    auto value = [](int64_t i, int64_t head, int64_t j) {
      return static_cast<double>(i * 100 + head * 10 + j);
    };
    std::vector<double> rows(seq / 2 * heads * width), columns(rows.size()), back(rows.size());
    for (int64_t i = 0; i < seq / 2; ++i)
      for (int64_t head = 0; head < heads; ++head)
        for (int64_t j = 0; j < width; ++j)
          rows[(i * heads + head) * width + j] = value(rank * seq / 2 + i, head, j);
    allToAll(ctx, over<0>(), DType::F64,
             {{rows.data(), columns.data(), 1, heads, 1, seq / 2, width, true}}, 0);
    finish(ctx, 0);
    for (int64_t i = 0; i < seq; ++i)
      for (int64_t head = 0; head < heads / 2; ++head)
        for (int64_t j = 0; j < width; ++j)
          EXPECT_EQ(columns[(i * heads / 2 + head) * width + j],
                    value(i, rank * heads / 2 + head, j));
    allToAll(ctx, over<0>(), DType::F64,
             {{columns.data(), back.data(), 1, seq, 1, heads / 2, width, false}}, 0);
    finish(ctx, 0);
    EXPECT_EQ(back, rows);
  });
}

// By the definition of docs/costs.md, per kind and axes. Receives and groups of one rank count
// nothing.
TEST(Lanes, CountWhatTheirRankSends) {
  onRanks({{"pp", 3}, {"one", 1}}, {{{0}, 1}}, [](Context &ctx, int rank) {
    std::vector<float> shard(8, 1), whole(24), sum(24), once(8);
    Traffic traffic;
    ctx.collectives->setTraffic(&traffic);
    for (int round = 0; round < 2; ++round) {
      allGather(ctx, over<0>(), DType::F32,
                {{shard.data(), whole.data(), 2, 2, 1}, {shard.data(), sum.data(), 1, 4, 1}}, 0);
      finish(ctx, 0);
    }
    reduceScatter(ctx, over<0>(), DType::F32, Reduction::Sum, whole.data(), shard.data(), 1, 8, 1);
    allReduce(ctx, over<0>(), DType::F32, Reduction::Sum, sum.data(), 5);
    allReduce(ctx, over<1>(), DType::F32, Reduction::Sum, sum.data(), 5);
    allToAll(ctx, over<0>(), DType::F32, whole.data(), sum.data(), 1, 6, 1, 4, 1, false);
    permute(ctx, over<0>(), DType::F32, 1, {{shard.data(), once.data(), 1, 8, 1}});
    send(ctx, over<0>(), DType::F32, 1, shard.data(), 8, 0);
    receive(ctx, over<0>(), DType::F32, 1, once.data(), 8, 1);
    finish(ctx, 0);
    finish(ctx, 1);
    ctx.collectives->setTraffic(nullptr);
    allReduce(ctx, over<0>(), DType::F32, Reduction::Sum, sum.data(), 5);

    std::map<std::string, std::pair<int64_t, int64_t>> seen;
    for (const Traffic::Use &use : traffic.uses())
      if (use.bytes > 0) {
        EXPECT_EQ(use.axes, std::vector<int>{0});
        seen[use.kind] = {use.times, use.bytes};
      }
    std::map<std::string, std::pair<int64_t, int64_t>> expected = {{"all_gather", {2, 2 * 2 * 32}},
                                                                   {"reduce_scatter", {1, 2 * 32}},
                                                                   {"all_reduce", {1, 26}},
                                                                   {"all_to_all", {1, 2 * 32}},
                                                                   {"permute", {1, 32}}};
    if (rank < 2)
      expected["send"] = {1, 32};
    EXPECT_EQ(seen, expected);
  });
}

// A program that fails ends although another lane waits for a rank that does not come.
TEST(Lanes, EndWhenTheirProgramFails) {
  std::atomic<bool> hasEnded = false;
  onRanks({{"a", 2}}, {}, [&](Context &ctx, int rank) {
    double value = 1;
    ctx.collectives->group(over<0>());
    if (rank == 0) {
      auto device = makeDevice({});
      Collectives failing(ctx.collectives->getWorld(), ctx.collectives->getMesh(), *device);
      Context inner;
      inner.collectives = &failing;
      allReduce(inner, over<0>(), DType::F64, Reduction::Sum, {{&value, &value, 1, 1, 1}}, 0);
    }
    if (rank == 0)
      hasEnded = true;
    for (int wait = 0; rank == 1 && wait < 1000 && !hasEnded; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(hasEnded);
  });
}

} // namespace
