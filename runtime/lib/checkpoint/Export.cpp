#include "Export.h"

#include "Checkpoint.h"
#include "state/TensorFiles.h"
#include "state/WeightFiles.h"
#include "weights/TokenizerFiles.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "base/text/Counted.h"

#include <cstdio>
#include <filesystem>
#include <iterator>

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

} // namespace

int exportWeights(Executor &executor, const Options &options, const Settings &settings) {
  executor.world().runCollectively([&] {
    if (options.exportDirectory.empty())
      throw UserError("export needs an output directory: pass --hf DIR");
    if (options.initFrom.empty())
      throw UserError("export needs weights: pass --init-from DIR or FILE.safetensors");
  });
  loadTrainedWeights(executor, options, settings);
  if (options.dryRun)
    return 0;
  if (executor.hasFunction("merge"))
    executor.run("merge");
  constexpr Role parameters[] = {Role::Parameter};
  fs::path directory(options.exportDirectory);
  executor.world().runCollectively([&] {
    if (executor.isFirst())
      makeDirectory(directory.string(), "the directory of an export");
  });
  const bool isMapped = !executor.program().weights.format.empty();
  std::vector<Shard> shards =
      isMapped ? saveMapped(executor, directory.string(), "model", exportedShardBytes)
               : saveShards(executor, directory.string(), "model", parameters, exportedShardBytes);
  if (executor.isFirst()) {
    writeShardIndex(directory.string(), "model", shards);
    writeFileAtomically((directory / "config.json").string(),
                        buildConfig(executor.program(), settings), Sync::Content);
    writeFileAtomically((directory / "program.titan").string(), executor.program().source,
                        Sync::Content);
    copyTokenizer(options.tokenizer.empty() ? findTokenizerSource(options.initFrom)
                                            : options.tokenizer,
                  directory.string());
    syncDirectory(directory);
    std::printf("wrote %s of weights to %s\n", counted(std::ssize(shards), "file").c_str(),
                directory.c_str());
  }
  executor.barrier("writing an export");
  return 0;
}

} // namespace titan::rt
