#include "CostReport.h"

#include "base/files/DurableFile.h"

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

using nlohmann::ordered_json;

static ordered_json toJson(const Traffic &traffic, const Mesh &mesh) {
  ordered_json all = ordered_json::array();
  for (const Traffic::Use &use : traffic.uses()) {
    ordered_json axes = ordered_json::array();
    for (int axis : use.axes)
      axes.push_back(mesh.axes()[static_cast<size_t>(axis)].name);
    all.push_back(
        {{"kind", use.kind}, {"axes", axes}, {"times", use.times}, {"bytes_sent", use.bytes}});
  }
  return all;
}

static ordered_json describeMemory(Executor &executor) {
  const Arena &arena = executor.arena();
  ordered_json memory = {{"arena", arena.bytes()},
                         {"persistent", arena.persistentBytes()},
                         {"host", arena.hostBytes()}};
  if (std::optional<int64_t> touched = arena.touchedBytes())
    memory["touched"] = *touched;
  memory["packing"] = executor.packingBytes();
  memory["sockets"] = executor.world().bufferBytes();
  memory["process"] = executor.device().peakMemoryBytes();
  return memory;
}

void CostReport::write() {
  if (!isEnabled)
    return;
  const ordered_json json = {{"rank", executor.world().rank()},
                             {"steps", steps},
                             {"collectives", toJson(traffic, executor.mesh())},
                             {"message_bytes", messageBytes},
                             {"memory", describeMemory(executor)}};
  const std::filesystem::path folder = std::filesystem::path(runDirectory) / "costs";
  createDirectories(folder);
  const std::string name = fmt::format("rank-{}.json", executor.world().rank());
  writeFileAtomically((folder / name).string(), json.dump(2) + "\n", Sync::No);
  if (executor.isFirst())
    std::printf("costs in %s\n", folder.c_str());
}

} // namespace titan::rt
