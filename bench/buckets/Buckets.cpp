// Times of gathering a layer's parameters and reduce-scattering its gradients, for four layouts of
// a layer's shards (docs/rationale/communication.md):
//   by block    every parameter in equal shards that are contiguous per rank (Titan's layout)
//   each flat   every parameter in equal shards, each in a separate allocation
//   one buffer  the concatenated layer in equal shards: one operand, without copies
//   copied      every parameter in equal shards that are contiguous per rank, as one operand, with
//               copies to and from the full parameters
// Build the target bench-buckets and start it with a launcher on an idle machine, also with
// TITAN_COMM=gloo:
//   torchrun --no-python --nproc-per-node 2 build/bin/bench-buckets
// Variants run in alternating order; the medians of 26 turns are printed.
#include "collectives/Collectives.h"

#include "comm/CollectiveCall.h"
#include "device/Device.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

using Sizes = std::vector<int64_t>; // elements of each parameter of a layer

/// The full parameters of a layer, contiguous, and this rank's shards of them.
class Layer {
public:
  Layer(Collectives &collectives, Group &group, Sizes parameters)
      : collectives(collectives), group(group), sizes(std::move(parameters)),
        full(countElements(), 1), byRank(countElements()),
        shards(countElements() / group.size() + static_cast<int64_t>(sizes.size()) * kGap, 1) {}

  int64_t countElements() const { return std::accumulate(sizes.begin(), sizes.end(), int64_t{0}); }

  void gatherByBlock() {
    issue(CollectiveCall::AllGather, makeBuffers(CollectiveCall::AllGather, 0));
  }
  void gatherEachFlat() {
    issue(CollectiveCall::AllGather, makeBuffers(CollectiveCall::AllGather, kGap));
  }
  void scatterEachFlat() {
    issue(CollectiveCall::ReduceScatter, makeBuffers(CollectiveCall::ReduceScatter, kGap));
  }

  void gatherOneBuffer() { issue(CollectiveCall::AllGather, {makeBuffer(shards, full)}); }
  void scatterOneBuffer() { issue(CollectiveCall::ReduceScatter, {makeBuffer(full, shards)}); }

  void gatherCopied() {
    issue(CollectiveCall::AllGather, {makeBuffer(shards, byRank)});
    forEachChunk([&](int64_t inFull, int64_t inByRank, int64_t count) {
      std::memcpy(&full[inFull], &byRank[inByRank], count * sizeof(float));
    });
  }
  void scatterCopied() {
    forEachChunk([&](int64_t inFull, int64_t inByRank, int64_t count) {
      std::memcpy(&byRank[inByRank], &full[inFull], count * sizeof(float));
    });
    issue(CollectiveCall::ReduceScatter, {makeBuffer(byRank, shards)});
  }

private:
  void issue(CollectiveCall::Kind kind, std::vector<CollectiveBuffer> buffers) {
    collectives.issue(
        {kind, &group, DType::F32, Reduction::Sum, {"measuring", ""}, std::move(buffers)}, kAtOnce);
  }

  CollectiveBuffer makeBuffer(const std::vector<float> &from, std::vector<float> &to) const {
    return {from.data(), to.data(), 1, countElements() / group.size()};
  }

  /// One operand per parameter, with `gap` elements between the shards of two parameters.
  std::vector<CollectiveBuffer> makeBuffers(CollectiveCall::Kind kind, int64_t gap) {
    std::vector<CollectiveBuffer> buffers;
    int64_t offset = 0;
    for (int64_t size : sizes) {
      float *parameter = &full[offset];
      float *shard = &shards[offset / group.size() + static_cast<int64_t>(buffers.size()) * gap];
      const bool gathers = kind == CollectiveCall::AllGather;
      buffers.push_back(
          {gathers ? shard : parameter, gathers ? parameter : shard, 1, size / group.size()});
      offset += size;
    }
    return buffers;
  }

  /// Calls `visit` with the offset in `full`, the offset in `byRank` and the elements of every
  /// rank's shard of every parameter.
  template <typename Visit> void forEachChunk(Visit visit) {
    int64_t offset = 0;
    for (int64_t size : sizes) {
      const int64_t chunk = size / group.size();
      for (int64_t rank = 0; rank < group.size(); ++rank)
        visit(offset + rank * chunk,
              rank * (countElements() / group.size()) + offset / group.size(), chunk);
      offset += size;
    }
  }

  /// Elements between shards in separate allocations: four pages.
  static constexpr int64_t kGap = 4096;

  Collectives &collectives;
  Group &group;
  Sizes sizes;
  std::vector<float> full;   ///< the parameters one after the other
  std::vector<float> byRank; ///< the same elements in the order of the ranks that store them
  std::vector<float> shards; ///< this rank's shards
};

struct Variant {
  const char *name;
  void (Layer::*run)();
  std::vector<double> seconds = {};
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void measure(World &world, Collectives &collectives, const char *name, Sizes sizes) {
  Layer layer(collectives, world.worldGroup(), std::move(sizes));
  std::array<Variant, 7> variants = {{{"gathered, by block", &Layer::gatherByBlock},
                                      {"gathered, each flat", &Layer::gatherEachFlat},
                                      {"gathered, one buffer", &Layer::gatherOneBuffer},
                                      {"gathered, copied", &Layer::gatherCopied},
                                      {"scattered, each flat", &Layer::scatterEachFlat},
                                      {"scattered, one buffer", &Layer::scatterOneBuffer},
                                      {"scattered, copied", &Layer::scatterCopied}}};
  for (size_t turn = 0; turn < 27; ++turn)
    for (size_t i = 0; i < variants.size(); ++i) {
      // In alternating order, because a variant changes the caches for the next.
      Variant &variant = variants[turn % 2 ? i : variants.size() - 1 - i];
      world.worldGroup().barrier({"measuring", ""});
      const auto begin = std::chrono::steady_clock::now();
      (layer.*variant.run)();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      if (turn > 0)
        variant.seconds.push_back(took.count());
    }
  if (world.rank() != 0)
    return;
  std::printf("%s, %.1f MB on %d ranks\n", name, layer.countElements() * 4e-6, world.size());
  for (const Variant &variant : variants)
    std::printf("  %-22s %9.3f ms\n", variant.name, median(variant.seconds) * 1e3);
}

} // namespace

int main() {
  std::unique_ptr<World> world = World::connect(detectLaunch());
  const std::unique_ptr<Device> device = makeDevice(world->launch());
  Collectives collectives(*world, Mesh({{"shard", world->size()}}), *device);
  // Norms, q, k, v, o and the three matrices of the feed-forward network.
  measure(
      *world, collectives, "a layer of Llama 134 M",
      {768, 768 * 768, 768 * 256, 768 * 256, 768 * 768, 768, 768 * 2048, 768 * 2048, 2048 * 768});
  measure(*world, collectives, "a layer of the debug model",
          {256, 256 * 256, 256 * 256, 256 * 256, 256 * 256, 256, 256 * 768, 256 * 768, 768 * 256});
  return 0;
}
