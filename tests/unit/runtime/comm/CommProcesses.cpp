// A program for several processes: every collective and element type on buffers with known results.
// ctest starts it under torchrun; it exits 0 on success. With the argument "vanish", the last rank
// ends early and the others must report it. With "differ", it calls another collective than the
// others, and no rank may accept that call as its own. With "mismatch", a message has another size
// than its receiver expects.
#include "CommCollectives.h"

#include "base/Error.h"
#include "comm/Comm.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <unistd.h>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

int failures = 0;

template <typename T>
void expect(const char *what, const Group &group, const std::vector<T> &got,
            const std::vector<T> &want) {
  if (got == want)
    return;
  ++failures;
  std::fprintf(stderr, "rank %d: %s is wrong\n", group.ranks()[group.rank()], what);
}

/// Element j of rank r's buffer; small integers, so that sums are exact in any order.
template <typename T> std::vector<T> contribution(int rank, int64_t count) {
  std::vector<T> values(count);
  for (int64_t j = 0; j < count; ++j)
    values[j] = static_cast<T>((rank + 1) * 10 + j % 7);
  return values;
}

template <typename T> void checkGroup(Group &group, DType type, int64_t count) {
  int n = group.size();
  auto of = [&](int position, int64_t length) {
    return contribution<T>(group.ranks()[position], length);
  };
  std::vector<T> sum(n * count), max(count), gathered;
  for (int p = 0; p < n; ++p) {
    auto wide = of(p, n * count), narrow = of(p, count);
    for (int64_t j = 0; j < n * count; ++j)
      sum[j] += wide[j];
    for (int64_t j = 0; j < count; ++j)
      max[j] = std::max(max[j], narrow[j]);
    gathered.insert(gathered.end(), narrow.begin(), narrow.end());
  }
  int me = group.rank();

  auto reduced = of(me, n * count);
  group.allReduce(reduced.data(), n * count, type, Reduction::Sum, {"all_reduce", "test:1"});
  expect("all_reduce sum", group, reduced, sum);
  auto largest = of(me, count);
  group.allReduce(largest.data(), count, type, Reduction::Max, {"all_reduce", "test:2"});
  expect("all_reduce max", group, largest, max);

  auto mine = of(me, count);
  std::vector<T> all(n * count);
  group.allGather(mine.data(), all.data(), count, type, {"all_gather", "test:3"});
  expect("all_gather", group, all, gathered);

  auto whole = of(me, n * count);
  std::vector<T> chunk(count);
  group.reduceScatter(whole.data(), chunk.data(), count, type, Reduction::Sum, {});
  expect("reduce_scatter", group, chunk,
         std::vector<T>(sum.begin() + me * count, sum.begin() + (me + 1) * count));
  expect("input of reduce_scatter", group, whole, of(me, n * count));

  std::vector<T> received(n * count), wanted;
  group.allToAll(whole.data(), received.data(), count, type, {});
  for (int p = 0; p < n; ++p) {
    auto from = of(p, n * count);
    wanted.insert(wanted.end(), from.begin() + me * count, from.begin() + (me + 1) * count);
  }
  expect("all_to_all", group, received, wanted);

  std::vector<T> passed(count);
  group.permute(mine.data(), passed.data(), count, type, {1}, {"permute", "test:4"});
  expect("permute", group, passed, of((me + n - 1) % n, count));

  auto data = of(me, count);
  group.broadcast(data.data(), count, type, n - 1, {});
  expect("broadcast", group, data, of(n - 1, count));
  group.barrier({});
}

/// A member's terms of a sum that depends on their order.
std::vector<float> unevenTerms(int member, int64_t count) {
  std::vector<float> values(count);
  for (int64_t j = 0; j < count; ++j)
    values[j] = 1.0f / static_cast<float>(3 + member * 17 + j % 1013);
  return values;
}

/// Sums combine the members in order, so they have the same bits over every transport.
void checkOrderOfSums(Group &group) {
  const int64_t n = group.size(), me = group.rank();
  for (int64_t count : {int64_t{10}, int64_t{1000}, int64_t{200003}}) {
    std::vector<float> whole = unevenTerms(0, n * count), shard(count);
    for (int m = 1; m < n; ++m) {
      std::vector<float> terms = unevenTerms(m, n * count);
      for (int64_t j = 0; j < n * count; ++j)
        whole[j] += terms[j];
    }
    std::vector<float> values = unevenTerms(group.rank(), n * count);
    group.reduceScatter(values.data(), shard.data(), count, DType::F32, Reduction::Sum, {});
    expect("order of a scattered sum", group, shard,
           {whole.begin() + me * count, whole.begin() + (me + 1) * count});
    group.allReduce(values.data(), n * count, DType::F32, Reduction::Sum, {});
    expect("order of a sum", group, values, whole);
  }
}

/// A sum of a large term and many small ones, which rounding after every term would lose.
void checkSumOfBfloat16(Group &group) {
  const float small = 0x1p-8f * 0.75f, n = group.size();
  auto terms = [&](size_t count) { return std::vector<bf16>(count, group.rank() ? small : 1.0f); };
  float want = bf16(1 + (n - 1) * small);
  std::vector<bf16> all = terms(3), whole = terms(3 * group.size()), shard(3);
  group.allReduce(all.data(), 3, DType::BF16, Reduction::Sum, {});
  group.reduceScatter(whole.data(), shard.data(), 3, DType::BF16, Reduction::Sum, {});
  for (const std::vector<bf16> &sum : {all, shard})
    expect("sum of bf16", group, std::vector<float>(sum.begin(), sum.end()),
           std::vector<float>(3, want));
}

/// NaN propagates from every member.
void checkNoNumbers(Group &group) {
  for (int from = 0; from < group.size(); ++from)
    for (Reduction op : {Reduction::Max, Reduction::Min}) {
      double value = group.rank() == from ? NAN : 1.0;
      group.allReduce(&value, 1, DType::F64, op, {});
      expect("NaN of a member", group, std::vector<bool>{std::isnan(value)}, {true});
    }
}

int runAll(World &world) {
  std::vector<int> reversed(world.size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  std::vector<int> pair{world.rank() & ~1, world.rank() | 1};
  bool paired = pair[1] < world.size();
  std::vector<Group *> groups{&world.worldGroup(), &world.group(reversed),
                              &world.group({world.rank()})};
  if (paired)
    groups.push_back(&world.group(pair));
  for (Group *group : groups) {
    for (int64_t count : {int64_t{1}, int64_t{1000}, int64_t{300001}}) {
      checkGroup<float>(*group, DType::F32, count);
      checkGroup<double>(*group, DType::F64, count);
    }
    checkGroup<int64_t>(*group, DType::I64, 5);
    checkSumOfBfloat16(*group);
    checkOrderOfSums(*group);
    checkNoNumbers(*group);
    if (int64_t wrong = titan::test::checkCollectives(*group)) {
      ++failures;
      std::fprintf(stderr, "rank %d: %ld elements of exchanges are wrong\n", world.rank(), wrong);
    }
  }
  return failures == 0 ? 0 : 1;
}

/// Prints the fault. Returns whether its text contains all `words`.
bool says(const Fault &fault, std::initializer_list<const char *> words) {
  std::fprintf(stderr, "%s\n", fault.what());
  return std::all_of(words.begin(), words.end(),
                     [&](const char *word) { return std::strstr(fault.what(), word); });
}

/// Whether a socket reports that the other rank is late or gone.
bool isTimeoutOrEnd(const Fault &fault) {
  return says(fault, {"did not come in time"}) || says(fault, {"is gone"});
}

int runVanish(World &world) {
  Group &group = world.worldGroup();
  group.barrier({});
  if (world.rank() == world.size() - 1)
    _exit(0);
  try {
    float value = 1;
    group.allReduce(&value, 1, DType::F32, Reduction::Sum, {"all_reduce of the loss", "m.titan:7"});
    std::fprintf(stderr, "expected a fault\n");
    _exit(1);
  } catch (const Fault &fault) {
    _exit(says(fault, {"rank 0", "m.titan:7", "all_reduce of the loss"}) ? 0 : 1);
  }
}

/// A message of another size than its receiver expects, whose ends are on two source lines.
int runMismatch(World &world, bool overSockets) {
  Group &pair = world.group({0, 1});
  std::vector<float> values(64, 1.0f), received(32, 7.0f);
  const Shift next{1, /*isCyclic=*/false};
  float first = 3;
  if (pair.rank() == 0)
    pair.permute(&first, nullptr, 1, DType::F32, next, {"send", "m.titan:5"});
  else
    pair.permute(nullptr, &first, 1, DType::F32, next, {"receive", "m.titan:6"});
  try {
    if (pair.rank() == 0)
      pair.permute(values.data(), nullptr, 64, DType::F32, next, {"send", "m.titan:7"});
    else
      pair.permute(nullptr, received.data(), 32, DType::F32, next, {"receive", "m.titan:9"});
    std::fprintf(stderr, "expected a fault\n");
    _exit(1);
  } catch (const Fault &fault) {
    bool good = overSockets ? isTimeoutOrEnd(fault)
                            : says(fault, {"send (m.titan:7) of 256 bytes of f32",
                                           "receive (m.titan:9) of 128 bytes of f32"});
    good &= first == 3 && received == std::vector<float>(32, 7.0f);
    _exit(good ? 0 : 1);
  }
}

/// Shared memory reports the different calls at once; over sockets the ranks time out.
int runDiffer(World &world, bool overSockets) {
  Group &group = world.worldGroup();
  const int n = group.size();
  std::vector<float> values(64 * n, 1.0f), shard(64, 7.0f);
  try {
    if (world.rank() == n - 1)
      group.reduceScatter(values.data(), shard.data(), 64, DType::F32, Reduction::Sum,
                          {"reduce_scatter", "m.titan:9"});
    else
      group.allReduce(values.data(), 64 * n, DType::F32, Reduction::Sum,
                      {"all_reduce", "m.titan:7"});
    std::fprintf(stderr, "expected a fault\n");
    _exit(1);
  } catch (const Fault &fault) {
    bool good =
        overSockets ? isTimeoutOrEnd(fault) : says(fault, {"m.titan:7", "m.titan:9", "of f32"});
    good &= shard == std::vector<float>(64, 7.0f);
    _exit(good ? 0 : 1);
  }
}

} // namespace

int main(int argc, char **argv) {
  try {
    const CommOptions options = CommOptions::ofEnvironment();
    auto world = World::connect(detectLaunch(), options);
    if (argc > 1 && !std::strcmp(argv[1], "differ"))
      return runDiffer(*world, options.avoidSharedMemory);
    if (argc > 1 && !std::strcmp(argv[1], "mismatch"))
      return runMismatch(*world, options.avoidSharedMemory);
    return argc > 1 && !std::strcmp(argv[1], "vanish") ? runVanish(*world) : runAll(*world);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
