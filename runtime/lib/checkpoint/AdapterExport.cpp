#include "AdapterExport.h"

#include "Checkpoint.h"
#include "Export.h"
#include "ExportDirectory.h"
#include "state/FileTensors.h"
#include "state/TensorFiles.h"
#include "state/WeightFiles.h"
#include "weights/AdapterConfig.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "base/text/Counted.h"
#include "base/weights/StridedLayout.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// The name of the module that has the tensor as its weight.
std::string getModule(std::string tensor) {
  const std::string end = ".weight";
  if (tensor.ends_with(end))
    tensor.resize(tensor.size() - end.size());
  return tensor;
}

std::string getLastWord(const std::string &name) {
  return name.substr(name.rfind('.') + 1); // npos + 1 is 0
}

/// The modules with adapters: by the last words of their names, or by their whole names if other
/// modules have the same last words.
std::vector<std::string> listModules(Executor &executor, const Json &adapters) {
  const WeightMap &map = executor.program().weights;
  std::set<std::string> adapted, others;
  constexpr Role roles[] = {Role::Parameter};
  for (const FileTensor &each : listFileTensors(executor, roles)) {
    const auto stored = std::ranges::find(map.parameters, each.tensor->name,
                                          [](const StoredParameter &one) { return one.parameter; });
    if (stored == map.parameters.end())
      continue;
    auto &modules = adapters.contains(each.tensor->name) ? adapted : others;
    for (int64_t i = 0; i < StridedLayout(*stored).countTensors(); ++i)
      modules.insert(getModule(makeTensorName(*stored, each.iterations, i)));
  }
  std::set<std::string> words, taken;
  for (const std::string &name : adapted)
    words.insert(getLastWord(name));
  for (const std::string &name : others)
    taken.insert(getLastWord(name));
  const bool isUnique =
      std::ranges::none_of(words, [&](const std::string &word) { return taken.contains(word); });
  const std::set<std::string> &names = isUnique ? words : adapted;
  return {names.begin(), names.end()};
}

/// Refuses adapters that have no tensors in this form.
void requireTensors(const Program &program, const Json &adapters) {
  if (program.weights.merged.empty())
    throw UserError("--peft: the program has no adapters: give its parameters some, `parameters "
                    "\"PATTERN\" { adapter = LowRank(_) }`");
  for (const std::string &name : program.weights.merged)
    if (std::ranges::none_of(program.weights.parameters,
                             [&](const StoredParameter &each) { return each.parameter == name; }))
      throw UserError(fmt::format("--peft: '{}' belongs to a parameter that is not one whole "
                                  "matrix of the model's files: export adapters merged, by --hf",
                                  name));
  if (adapters.empty())
    throw UserError("--peft: no declaration expresses the configuration of this model: export "
                    "adapters merged, by --hf");
}

} // namespace

int exportAdapters(Executor &executor, const Options &options, const Settings &settings) {
  const Json adapters = getAdapterConfigs(executor.program().config);
  Json config;
  executor.world().runCollectively([&] {
    if (options.initFrom.empty())
      throw UserError("export needs weights: pass --init-from DIR or FILE.safetensors");
    requireTensors(executor.program(), adapters);
    const Json common = getCommonConfig(adapters);
    for (const auto &[key, value] : common.items())
      if (!value.is_null())
        config[key] = value;
    config["target_modules"] = listModules(executor, adapters);
    if (executor.isFirst())
      ExportDirectory::check(options.adapterDirectory, options.initFrom);
  });
  loadTrainedWeights(executor, options, settings);
  if (options.dryRun)
    return 0;
  std::optional<ExportDirectory> directory;
  executor.world().runCollectively([&] {
    if (executor.isFirst())
      directory.emplace(options.adapterDirectory, options.initFrom);
  });
  const fs::path folder = ExportDirectory::folderIn(options.adapterDirectory);
  const ShardFiles files{folder.string(),
                         "adapter_model",
                         std::numeric_limits<int64_t>::max(),
                         /*numbersSingle=*/false,
                         ExportDirectory::metadata(),
                         {{}, getStoredType(options.exportType)}};
  const std::vector<Shard> shards = saveMapped(executor, files, Mapped::Adapters);
  if (directory) {
    writeFileAtomically((folder / adapterConfigName).string(), config.dump(2) + "\n",
                        Sync::Content);
    directory->publish();
    std::printf("wrote %s of adapters to %s\n",
                counted(std::ssize(shards.front().tensors), "tensor").c_str(),
                options.adapterDirectory.c_str());
  }
  executor.barrier("writing adapters");
  return 0;
}

} // namespace titan::rt
