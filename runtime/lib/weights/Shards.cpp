// Divides tensors into files, and writes the index of these files (WeightStore.h).
#include "WeightStore.h"
#include "base/files/DurableFile.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

std::vector<size_t> cutIntoShards(std::span<const int64_t> tensorBytes, int64_t shardBytes) {
  std::vector<size_t> ends;
  int64_t filled = 0;
  for (size_t i = 0; i < tensorBytes.size(); ++i) {
    if (i > 0 && filled + tensorBytes[i] > shardBytes) {
      ends.push_back(i);
      filled = 0;
    }
    filled += tensorBytes[i];
  }
  if (!tensorBytes.empty())
    ends.push_back(tensorBytes.size());
  return ends;
}

std::string ShardFiles::name(size_t number, size_t count) const {
  return count == 1 && !numbersSingle
             ? stem + ".safetensors"
             : fmt::format("{}-{:05}-of-{:05}.safetensors", stem, number, count);
}

void writeShardIndex(const std::string &directory, const std::string &stem,
                     const std::vector<Shard> &shards) {
  nlohmann::ordered_json map = nlohmann::ordered_json::object();
  int64_t total = 0;
  for (const Shard &shard : shards)
    for (const Shard::Entry &tensor : shard.tensors) {
      map[tensor.name] = shard.file;
      total += tensor.bytes;
    }
  nlohmann::ordered_json json = {{"metadata", {{"total_size", total}}}, {"weight_map", map}};
  std::filesystem::path path =
      std::filesystem::path(directory) / (stem + ".safetensors.index.json");
  writeFileAtomically(path.string(), json.dump(2) + "\n", Sync::Content);
}

} // namespace titan::rt
