#include "Replicas.h"

#include "base/Error.h"
#include "base/data/DType.h"
#include "files/Checksum.h"

#include <map>
#include <vector>

#include <fmt/format.h>

namespace titan::rt {

namespace {

/// Checksum of this rank's elements in the order of its memory, without padding.
uint32_t computeChecksum(Executor &executor, const Tensor &tensor) {
  Executor::Slots slots = executor.getSlots(tensor);
  ShardLayout layout = executor.getLayout(slots.info);
  const int64_t size = getByteSize(tensor.info.dtype);
  uint32_t sum = 0;
  for (int64_t slot = 0; slot < slots.count; ++slot) {
    HostView host(executor.device(), executor.getData(tensor) + slot * slots.stride, slots.bytes,
                  HostView::Access::Read);
    layout.forEachRun([&](const ShardRun &run) {
      sum = crc32c({host.data() + run.local * size, static_cast<size_t>(run.count * size)}, sum);
    });
  }
  return sum;
}

} // namespace

std::optional<std::pair<size_t, size_t>> findDifference(std::span<const HeldShard> held) {
  std::map<int64_t, size_t> first; // the first rank with each shard
  for (size_t rank = 0; rank < held.size(); ++rank) {
    if (held[rank].shard == HeldShard::kNone)
      continue;
    size_t other = first.try_emplace(held[rank].shard, rank).first->second;
    if (held[rank].checksum != held[other].checksum)
      return std::pair(other, rank);
  }
  return std::nullopt;
}

void checkReplicas(Executor &executor) {
  std::vector<const Tensor *> tensors;
  std::vector<HeldShard> own;
  for (const Tensor &tensor : executor.program().tensors) {
    if (tensor.role != Role::Parameter && tensor.role != Role::State)
      continue;
    tensors.push_back(&tensor);
    if (executor.has(tensor))
      own.push_back({executor.shardIndex(tensor.info), computeChecksum(executor, tensor)});
    else
      own.push_back({HeldShard::kNone, 0});
  }
  size_t ranks = static_cast<size_t>(executor.world().size());
  std::vector<HeldShard> all(ranks * own.size());
  constexpr int64_t numbers = sizeof(HeldShard) / sizeof(int64_t);
  executor.world().worldGroup().allGather(own.data(), all.data(),
                                          numbers * static_cast<int64_t>(own.size()), DType::I64,
                                          {"comparing replicas", ""});
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<HeldShard> held;
    for (size_t rank = 0; rank < ranks; ++rank)
      held.push_back(all[rank * own.size() + i]);
    if (auto found = findDifference(held))
      throw Fault(fmt::format("'{}' differs between ranks {} and {}, although they are replicas",
                              tensors[i]->name, found->first, found->second));
  }
}

} // namespace titan::rt
