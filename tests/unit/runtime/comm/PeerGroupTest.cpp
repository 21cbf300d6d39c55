// Collectives among many simulated hosts: each is a thread, whose messages go through memory. A
// message is copied when both of its ends have started, as by a network card, so that a buffer that
// is reused too early gives wrong results.
#include "comm/PeerGroup.h"

#include "base/Error.h"
#include "titan/runtime/bfloat16.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

using namespace titan;
using namespace titan::rt;

namespace {

/// A message, from when its first end has started.
struct Transfer {
  const std::byte *from = nullptr;
  std::byte *to = nullptr;
  int64_t sent = -1, received = -1;
  bool isDone = false;
};

/// The network of one collective after the other.
class Network {
public:
  using Ends = std::pair<int, int>; // sender and receiver

  std::shared_ptr<Transfer> start(Ends ends, const std::byte *from, std::byte *to, int64_t bytes) {
    std::lock_guard lock(mutex);
    auto &waiting = pending[ends];
    auto isFree = [&](const auto &transfer) { return from ? !transfer->from : !transfer->to; };
    auto it = std::find_if(waiting.begin(), waiting.end(), isFree);
    if (it == waiting.end())
      it = waiting.insert(waiting.end(), std::make_shared<Transfer>());
    std::shared_ptr<Transfer> transfer = *it;
    if (from) {
      transfer->from = from;
      transfer->sent = bytes;
    } else {
      transfer->to = to;
      transfer->received = bytes;
    }
    if (transfer->from && transfer->to) {
      if (transfer->sent != transfer->received)
        ++mismatches;
      std::memcpy(transfer->to, transfer->from,
                  static_cast<size_t>(std::min(transfer->sent, transfer->received)));
      transfer->isDone = true;
      waiting.erase(it);
      changed.notify_all();
    }
    return transfer;
  }
  void await(const Transfer &transfer) {
    std::unique_lock lock(mutex);
    if (!changed.wait_for(lock, std::chrono::seconds(60), [&] { return transfer.isDone; }))
      throw Fault("a message does not arrive");
  }

  std::atomic<int> mismatches = 0;

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::map<Ends, std::deque<std::shared_ptr<Transfer>>> pending;
};

/// A member whose messages go through the simulated network.
class SimulatedHost final : public PeerGroup {
public:
  SimulatedHost(Network &network, int size, int position)
      : PeerGroup(listRanks(size), position), network(network) {}

  int64_t messages = 0, bytes = 0; ///< sent since the last reset

protected:
  void withMessages(const CallSignature &, const std::function<void(Messages &)> &body) override {
    Wire wire(*this);
    body(wire);
    wire.awaitAll();
  }

private:
  class Wire final : public Messages {
  public:
    explicit Wire(SimulatedHost &host) : host(host) {}
    size_t send(const std::byte *data, int64_t bytes, int member) override {
      ++host.messages;
      host.bytes += bytes;
      return add(sends, bytes, {host.rank(), member}, data, nullptr);
    }
    size_t receive(std::byte *data, int64_t bytes, int member) override {
      return add(receives, bytes, {member, host.rank()}, nullptr, data);
    }
    void awaitSent(size_t number) override { host.network.await(*sends[number]); }
    void awaitReceived(size_t number) override { host.network.await(*receives[number]); }
    void awaitAll() override {
      for (const auto &list : {sends, receives})
        for (const auto &transfer : list)
          host.network.await(*transfer);
    }

  private:
    using Transfers = std::vector<std::shared_ptr<Transfer>>;
    size_t add(Transfers &list, int64_t bytes, Network::Ends ends, const std::byte *from,
               std::byte *to) {
      list.push_back(bytes ? host.network.start(ends, from, to, bytes)
                           : std::make_shared<Transfer>(Transfer{.isDone = true}));
      return list.size() - 1;
    }
    SimulatedHost &host;
    Transfers sends, receives;
  };

  static std::vector<int> listRanks(int size) {
    std::vector<int> ranks(size);
    for (int i = 0; i < size; ++i)
      ranks[i] = i;
    return ranks;
  }
  Network &network;
};

/// Runs `body` on one thread per host.
void onHosts(int count, const std::function<void(SimulatedHost &)> &body) {
  Network network;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      SimulatedHost host(network, count, i);
      body(host);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(network.mismatches, 0);
}

const int kSizes[] = {2, 8, 9, 13, 16};
// Below and above kTreeBytes, and several segments.
const int64_t kCounts[] = {1, 700, 5000, 150001};

/// A member's terms of a sum that depends on their order.
template <typename T> std::vector<T> makeTerms(int member, int64_t count) {
  std::vector<T> values(count);
  for (int64_t j = 0; j < count; ++j)
    values[j] = static_cast<T>(1.0f / static_cast<float>(3 + member * 17 + j % 1013));
  return values;
}

/// The sums in the order of the members; bf16 is summed in float and rounded once.
template <typename T> std::vector<T> computeSums(int members, int64_t count) {
  using Sum = std::conditional_t<std::is_same_v<T, bf16>, float, T>;
  std::vector<Sum> sums(count);
  for (int member = 0; member < members; ++member) {
    const std::vector<T> terms = makeTerms<T>(member, count);
    for (int64_t j = 0; j < count; ++j)
      sums[j] = member ? sums[j] + static_cast<Sum>(terms[j]) : static_cast<Sum>(terms[j]);
  }
  return {sums.begin(), sums.end()};
}

template <typename T> void checkReductions(DType type) {
  for (int hosts : kSizes)
    for (int64_t count : kCounts) {
      const std::vector<T> sums = computeSums<T>(hosts, count * hosts);
      std::atomic<int> wrong = 0;
      onHosts(hosts, [&](SimulatedHost &host) {
        auto differ = [&](const std::vector<T> &got, int64_t begin) {
          return std::memcmp(got.data(), sums.data() + begin, got.size() * sizeof(T)) != 0;
        };
        std::vector<T> terms = makeTerms<T>(host.rank(), count * hosts), shard(count), all = terms;
        // Two tensors at once.
        const CollectiveBuffer both[] = {
            {all.data(), all.data(), 1, count},
            {all.data() + count, all.data() + count, 1, count * (hosts - 1)}};
        static_cast<PeerGroup &>(host).allReduce(both, type, Reduction::Sum, {});
        wrong += differ(all, 0);
        host.reduceScatter(terms.data(), shard.data(), count, type, Reduction::Sum, {});
        wrong += differ(shard, host.rank() * count);
        const std::vector<T> before = makeTerms<T>(host.rank(), count * hosts);
        wrong += std::memcmp(terms.data(), before.data(), terms.size() * sizeof(T)) != 0;
      });
      EXPECT_EQ(wrong, 0) << hosts << " hosts, " << count << " elements";
    }
}

TEST(PeerGroup, SumsInTheOrderOfTheMembers) {
  checkReductions<float>(DType::F32);
}
TEST(PeerGroup, SumsBfloat16InFloat) {
  checkReductions<bf16>(DType::BF16);
}

TEST(PeerGroup, GathersAndBroadcasts) {
  for (int hosts : kSizes)
    for (int64_t count : kCounts) {
      std::atomic<int> wrong = 0;
      onHosts(hosts, [&](SimulatedHost &host) {
        const std::vector<float> own = makeTerms<float>(host.rank(), count), other = {7};
        std::vector<float> all(count * hosts), others(hosts);
        const CollectiveBuffer both[] = {{other.data(), others.data(), 1, 1},
                                         {own.data(), all.data(), 1, count}};
        static_cast<PeerGroup &>(host).allGather(both, DType::F32, {});
        for (int member = 0; member < hosts; ++member)
          wrong += !std::equal(all.begin() + member * count, all.begin() + (member + 1) * count,
                               makeTerms<float>(member, count).begin()) ||
                   others[member] != 7;
        for (int root : {0, hosts / 2, hosts - 1}) {
          std::vector<float> data = own;
          host.broadcast(data.data(), count, DType::F32, root, {});
          wrong += data != makeTerms<float>(root, count);
        }
      });
      EXPECT_EQ(wrong, 0) << hosts << " hosts, " << count << " elements";
    }
}

// No host leaves a barrier before all have reached it.
TEST(PeerGroup, MeetsAtBarriers) {
  for (int hosts : kSizes) {
    std::atomic<int> arrivals = 0, early = 0;
    onHosts(hosts, [&](SimulatedHost &host) {
      for (int round = 1; round <= 3; ++round) {
        ++arrivals;
        host.barrier({});
        early += arrivals < round * hosts;
      }
    });
    EXPECT_EQ(early, 0) << hosts << " hosts";
  }
}

/// The messages and bytes that a host sends in a call: the maximum over hosts.
struct Cost {
  int64_t messages, bytes;
};
Cost measureCost(int hosts, const std::function<void(SimulatedHost &)> &call) {
  std::atomic<int64_t> messages = 0, bytes = 0;
  std::mutex mutex;
  onHosts(hosts, [&](SimulatedHost &host) {
    call(host);
    std::lock_guard lock(mutex);
    messages = std::max<int64_t>(messages, host.messages);
    bytes = std::max<int64_t>(bytes, host.bytes);
  });
  return {messages, bytes};
}

// The counts of the table in PeerGroup.h.
TEST(PeerGroup, SendsTheStatedMessagesAndBytes) {
  for (int hosts : {9, 16, 23}) {
    const int64_t rounds = std::bit_width(static_cast<unsigned>(hosts - 1));
    auto reduce = [&](int64_t count) {
      return measureCost(hosts, [&](SimulatedHost &host) {
        std::vector<float> data(count);
        host.allReduce(data.data(), count, DType::F32, Reduction::Sum, {});
      });
    };
    auto gather = [&](int64_t count) {
      return measureCost(hosts, [&](SimulatedHost &host) {
        std::vector<float> own(count), all(count * hosts);
        host.allGather(own.data(), all.data(), count, DType::F32, {});
      });
    };
    const int64_t small = 1000, large = 100000, bytes = 4 * large;
    EXPECT_EQ(measureCost(hosts, [](SimulatedHost &host) { host.barrier({}); }).messages, rounds);
    EXPECT_EQ(reduce(small).messages, rounds);
    EXPECT_EQ(reduce(small).bytes, (hosts - 1) * small * 4);
    EXPECT_EQ(reduce(large).bytes, 2 * bytes);
    EXPECT_EQ(gather(small).messages, rounds);
    EXPECT_EQ(gather(small).bytes, (hosts - 1) * small * 4);
    EXPECT_EQ(gather(large).messages, hosts - 1);
    EXPECT_EQ(gather(large).bytes, (hosts - 1) * bytes);
    Cost scatter = measureCost(hosts, [&](SimulatedHost &host) {
      std::vector<float> all(large * hosts), shard(large);
      host.reduceScatter(all.data(), shard.data(), large, DType::F32, Reduction::Sum, {});
    });
    EXPECT_EQ(scatter.bytes, hosts * bytes);
    Cost broadcast = measureCost(hosts, [&](SimulatedHost &host) {
      std::vector<float> data(large);
      host.broadcast(data.data(), large, DType::F32, 3, {});
    });
    EXPECT_EQ(broadcast.messages, rounds);
    EXPECT_EQ(broadcast.bytes, rounds * bytes);
  }
}

} // namespace
