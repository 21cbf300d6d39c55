#include "Export.h"

#include "Checkpoint.h"
#include "ExportDirectory.h"
#include "state/TensorFiles.h"
#include "state/WeightFiles.h"
#include "weights/TokenizerFiles.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "base/text/Counted.h"

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>

#include <nlohmann/json.hpp>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

/// A file size that other software loads without trouble.
constexpr int64_t exportedShardBytes = int64_t{5} << 30;

const char *torchName(DType type) {
  return type == DType::F64 ? "float64" : type == DType::BF16 ? "bfloat16" : "float32";
}

/// The configuration of a model that declares none.
nlohmann::ordered_json ownConfig(const Program &program) {
  return {{"model_type", "titan"},
          {"architectures", {program.name}},
          {"vocab_size", program.vocab},
          {"max_position_embeddings", program.positions},
          {"num_parameters", program.parameters}};
}

std::string buildConfig(const Program &program, const Settings &settings) {
  nlohmann::ordered_json json =
      program.config.empty() ? ownConfig(program) : nlohmann::ordered_json::parse(program.config);
  json["torch_dtype"] = torchName(program.dtype);
  json["titan"] = settings.all();
  return json.dump(2) + "\n";
}

std::vector<Shard> saveWeights(Executor &executor, const Options &options) {
  const ShardFiles files{ExportDirectory::folderIn(options.exportDirectory), "model",
                         exportedShardBytes, /*numbersSingle=*/false, ExportDirectory::metadata()};
  if (!executor.program().weights.format.empty())
    return saveMapped(executor, files);
  constexpr Role parameters[] = {Role::Parameter};
  return saveShards(executor, files, parameters);
}

/// The files beside the weights. One rank calls it.
void writeOtherFiles(const Executor &executor, const Options &options, const Settings &settings,
                     const std::vector<Shard> &shards) {
  const fs::path folder = ExportDirectory::folderIn(options.exportDirectory);
  if (shards.size() > 1)
    writeShardIndex(folder.string(), "model", shards);
  writeFileAtomically((folder / "config.json").string(), buildConfig(executor.program(), settings),
                      Sync::Content);
  writeFileAtomically((folder / "program.titan").string(), executor.program().source,
                      Sync::Content);
  copyTokenizer(options.tokenizer.empty() ? findTokenizerSource(options.initFrom)
                                          : options.tokenizer,
                folder.string());
}

} // namespace

int exportWeights(Executor &executor, const Options &options, const Settings &settings) {
  executor.world().runCollectively([&] {
    if (options.exportDirectory.empty())
      throw UserError("export needs an output directory: pass --hf DIR");
    if (options.initFrom.empty())
      throw UserError("export needs weights: pass --init-from DIR or FILE.safetensors");
  });
  executor.world().runCollectively([&] {
    if (executor.isFirst())
      ExportDirectory::check(options.exportDirectory, options.initFrom);
  });
  loadTrainedWeights(executor, options, settings);
  if (options.dryRun)
    return 0;
  if (executor.hasFunction("merge"))
    executor.run("merge");
  std::optional<ExportDirectory> directory;
  executor.world().runCollectively([&] {
    if (executor.isFirst())
      directory.emplace(options.exportDirectory);
  });
  const std::vector<Shard> shards = saveWeights(executor, options);
  if (directory) {
    writeOtherFiles(executor, options, settings, shards);
    directory->publish();
    std::printf("wrote %s of weights to %s\n", counted(std::ssize(shards), "file").c_str(),
                options.exportDirectory.c_str());
  }
  executor.barrier("writing an export");
  return 0;
}

} // namespace titan::rt
