#include "Export.h"

#include "Checkpoint.h"
#include "ExportDirectory.h"
#include "data/Inputs.h"
#include "state/TensorFiles.h"
#include "state/WeightFiles.h"
#include "weights/TokenizerFiles.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "base/text/Counted.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

/// A file size that other software loads without trouble.
constexpr int64_t exportedShardBytes = int64_t{5} << 30;

/// An element type of exported weights.
struct ExportedType {
  const char *name, *stored, *torch; ///< of Titan, of safetensors and of PyTorch
};

constexpr ExportedType exportedTypes[] = {{"bf16", "BF16", "bfloat16"},
                                          {"f16", "F16", "float16"},
                                          {"f32", "F32", "float32"},
                                          {"f64", "F64", "float64"}};

/// The row whose member is `text`; null for `auto`, and for types of integers.
const ExportedType *findType(const char *ExportedType::*member, const std::string &text) {
  const auto *found = std::ranges::find(
      exportedTypes, text, [&](const ExportedType &type) { return std::string(type.*member); });
  return found == std::end(exportedTypes) ? nullptr : found;
}

/// `--dtype`; else tensors of other software keep their type, and others have that of the file.
FileTypes chooseTypes(const Options &options, const Settings &settings,
                      const LoadedWeights &loaded) {
  if (const ExportedType *type = findType(&ExportedType::name, options.exportType))
    return {{}, type->stored};
  const ExportedType *type = findType(&ExportedType::name, settings.text("export.dtype", "auto"));
  return {loaded.types, type ? type->stored : ""};
}

/// The bytes of each type.
std::map<std::string, int64_t> countTypes(const std::vector<Shard> &shards) {
  std::map<std::string, int64_t> bytes;
  for (const Shard &shard : shards)
    for (const Shard::Entry &tensor : shard.tensors)
      bytes[tensor.type] += tensor.bytes;
  return bytes;
}

/// The type of most weights, by which other software loads them.
const char *chooseTorchType(const std::vector<Shard> &shards) {
  const std::map<std::string, int64_t> bytes = countTypes(shards);
  const auto most = std::ranges::max_element(
      bytes, {}, [](const auto &entry) { return entry.second / *storedBytes(entry.first); });
  const ExportedType *type =
      most == bytes.end() ? nullptr : findType(&ExportedType::stored, most->first);
  return type ? type->torch : "float32";
}

/// "bf16 and f32".
std::string describeTypes(const std::vector<Shard> &shards) {
  std::vector<std::string> names;
  for (const auto &[stored, bytes] : countTypes(shards)) {
    const ExportedType *type = findType(&ExportedType::stored, stored);
    names.push_back(type ? type->name : stored);
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

/// The configuration of a model that declares none.
nlohmann::ordered_json makeDefaultConfig(const Program &program) {
  return {{"model_type", "titan"},
          {"architectures", {program.name}},
          {"vocab_size", program.vocab},
          {"max_position_embeddings", program.positions},
          {"num_parameters", program.parameters}};
}

/// The directory that names special tokens: that of the tokenizer, or else of the weights.
std::string findTokenSource(const Options &options) {
  const std::string tokenizer = chooseTokenizer(options);
  return tokenizer.empty() ? options.initFrom[0].path : tokenizer;
}

std::string buildConfig(const Program &program, const SpecialTokens &tokens,
                        const Settings &settings, const std::vector<Shard> &shards) {
  nlohmann::ordered_json json = program.config.empty()
                                    ? makeDefaultConfig(program)
                                    : nlohmann::ordered_json::parse(program.config);
  for (const auto &[key, value] : tokens)
    json.emplace(key, nlohmann::json::parse(value));
  json["torch_dtype"] = chooseTorchType(shards);
  json["titan"] = settings.all();
  return json.dump(2) + "\n";
}

std::vector<Shard> saveWeights(Executor &executor, const Options &options, FileTypes types) {
  const ShardFiles files{ExportDirectory::folderIn(options.exportDirectory),
                         "model",
                         exportedShardBytes,
                         /*numbersSingle=*/false,
                         ExportDirectory::metadata(),
                         std::move(types)};
  if (!executor.program().weights.format.empty())
    return saveMapped(executor, files);
  constexpr Role parameters[] = {Role::Parameter};
  return saveShards(executor, files, parameters);
}

/// The files beside the weights. One rank calls it.
void writeOtherFiles(const Executor &executor, const Options &options, const Settings &settings,
                     const SpecialTokens &tokens, const std::vector<Shard> &shards) {
  const fs::path folder = ExportDirectory::folderIn(options.exportDirectory);
  if (shards.size() > 1)
    writeShardIndex(folder.string(), "model", shards);
  writeFileAtomically((folder / "config.json").string(),
                      buildConfig(executor.program(), tokens, settings, shards), Sync::Content);
  writeFileAtomically((folder / "program.titan").string(), executor.program().source,
                      Sync::Content);
  const bool hasTokenizer = copyTokenizer(chooseTokenizer(options), folder.string());
  const bool readsTokens =
      executor.program().vocab > 0 && settings.text("data.format", "text") == "indexed";
  if (executor.program().config.empty())
    std::fprintf(stderr,
                 "note: config.json has the model type 'titan', which transformers does not "
                 "load: no `config` declaration expresses the model with its arguments\n");
  if (!hasTokenizer && readsTokens && options.tokenizer != "bytes")
    std::fprintf(stderr, "note: the export has no tokenizer, because --init-from has none; to copy "
                         "one, pass --tokenizer DIR\n");
}

} // namespace

int exportWeights(Executor &executor, const Options &options, const Settings &settings) {
  executor.world().runCollectively([&] {
    if (options.exportDirectory.empty())
      throw UserError("export needs an output directory: pass --hf DIR");
    if (options.initFrom.empty())
      throw UserError("export needs weights: pass --init-from DIR or FILE.safetensors");
  });
  SpecialTokens tokens; // read before weights, so that a bad file is reported at once
  executor.world().runCollectively([&] {
    if (!executor.isFirst())
      return;
    ExportDirectory::check(options.exportDirectory, options.initFrom);
    checkTokenizer(chooseTokenizer(options));
    if (!executor.program().config.empty())
      tokens = readSpecialTokens(findTokenSource(options));
  });
  const LoadedWeights loaded = loadTrainedWeights(executor, options, settings);
  if (options.dryRun)
    return 0;
  if (executor.hasFunction("merge"))
    executor.run("merge");
  std::optional<ExportDirectory> directory;
  executor.world().runCollectively([&] {
    if (executor.isFirst())
      directory.emplace(options.exportDirectory, options.initFrom);
  });
  const std::vector<Shard> shards =
      saveWeights(executor, options, chooseTypes(options, settings, loaded));
  if (directory) {
    writeOtherFiles(executor, options, settings, tokens, shards);
    directory->publish();
    std::printf("wrote %s of weights in %s to %s\n", counted(std::ssize(shards), "file").c_str(),
                describeTypes(shards).c_str(), options.exportDirectory.c_str());
  }
  executor.barrier("writing an export");
  return 0;
}

} // namespace titan::rt
