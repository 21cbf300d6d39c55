#include "Export.h"

#include "Checkpoint.h"
#include "ExportDirectory.h"
#include "MergeConfig.h"
#include "data/Inputs.h"
#include "state/TensorFiles.h"
#include "state/WeightFiles.h"
#include "weights/SourceFiles.h"
#include "weights/TokenizerFiles.h"

#include "base/Error.h"
#include "base/data/DataPaths.h"
#include "base/files/DurableFile.h"
#include "base/text/Counted.h"
#include "base/text/JsonInfinity.h"

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
using Json = nlohmann::ordered_json;

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

/// `--dtype`; else tensors of other software keep their type, and others have that of the file. No
/// type is wider than the numbers, which are those of the parameters.
FileTypes chooseTypes(const Program &program, const Options &options, const Settings &settings,
                      const LoadedWeights &loaded) {
  if (const ExportedType *type = findType(&ExportedType::name, options.exportType))
    return {{}, type->stored};
  const ExportedType *type = findType(&ExportedType::name, settings.text("export.dtype", "auto"));
  FileTypes types{loaded.types, type ? type->stored : ""};
  for (auto &[tensor, stored] : types.known)
    if (storedBytes(stored) > getByteSize(program.dtype))
      stored = getStoredName(program.dtype);
  return types;
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
Json makeDefaultConfig(const Program &program) {
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

/// The configuration of the program, without types; with that of its source if there is one.
Json makeConfig(const Program &program, const Options &options, const SourceFiles &files) {
  if (program.config.empty())
    return makeDefaultConfig(program);
  const Json own = Json::parse(program.config);
  if (!files.config.empty())
    return mergeConfig(findModelConfig(readJsonObject(files.config), own["config"]), own["lines"],
                       program.positions);
  Json config = own["config"];
  for (const auto &[key, value] : readSpecialTokens(findTokenSource(options)))
    config.emplace(key, Json::parse(value));
  return config;
}

/// Whether all exported tensors have the types of the weights' source.
bool haveSourceTypes(const std::vector<Shard> &shards, const FileTypes &source) {
  return std::ranges::all_of(shards, [&](const Shard &shard) {
    return std::ranges::all_of(shard.tensors, [&](const Shard::Entry &tensor) {
      const auto found = source.known.find(tensor.name);
      return found != source.known.end() && found->second == tensor.type;
    });
  });
}

/// States the type of the weights. In the configuration of a source, no type means f32.
void setType(Json &config, const std::string &type, bool isOfSource) {
  bool isStated = isOfSource && type == "float32";
  for (const char *key : {"dtype", "torch_dtype"})
    if (const auto found = config.find(key); found != config.end() && !found->is_null()) {
      *found = type;
      isStated = true;
    }
  if (!isStated)
    config["torch_dtype"] = type;
}

/// The settings, without the folders of files.
std::map<std::string, std::string> describeSettings(const Settings &settings) {
  std::map<std::string, std::string> all = settings.all();
  for (auto &[path, text] : all)
    if (namesFile(path))
      text = mapPaths(text, [](const std::string &file) {
        return fs::path(file).is_absolute() ? fs::path(file).filename().string() : file;
      });
  return all;
}

std::vector<Shard> saveWeights(Executor &executor, const std::string &folder, FileTypes types) {
  const ShardFiles files{folder,
                         "model",
                         exportedShardBytes,
                         /*numbersSingle=*/false,
                         ExportDirectory::metadata(),
                         std::move(types)};
  if (!executor.program().weights.format.empty())
    return saveMapped(executor, files, Mapped::Model);
  constexpr Role parameters[] = {Role::Parameter};
  return saveShards(executor, files, parameters);
}

/// The files beside the weights. One rank calls it.
void writeOtherFiles(const Executor &executor, const Options &options, const Settings &settings,
                     const SourceFiles &files, const Json &config,
                     const std::vector<Shard> &shards) {
  const fs::path folder = ExportDirectory::folderIn(options.exportDirectory);
  if (shards.size() > 1)
    writeShardIndex(folder.string(), "model", shards);
  writeFileAtomically((folder / "config.json").string(), unmarkInfinities(config.dump(2)) + "\n",
                      Sync::Content);
  writeFileAtomically((folder / "program.titan").string(), executor.program().source,
                      Sync::Content);
  const bool hasTokenizer = copyTokenizer(chooseTokenizer(options), folder.string());
  copyGenerationConfig(files, folder.string());
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

std::string getStoredType(const std::string &name) {
  const ExportedType *type = findType(&ExportedType::name, name);
  return type ? type->stored : "";
}

std::vector<Shard> saveExportedWeights(Executor &executor, const Options &options,
                                       const Settings &settings, const LoadedWeights &loaded,
                                       const std::string &folder) {
  if (executor.hasFunction("merge"))
    executor.run("merge");
  return saveWeights(executor, folder, chooseTypes(executor.program(), options, settings, loaded));
}

int exportWeights(Executor &executor, const Options &options, const Settings &settings) {
  executor.world().runCollectively([&] {
    if (options.exportDirectory.empty())
      throw UserError("export needs an output directory: pass --hf DIR or --dcp DIR, or --peft DIR "
                      "for adapters");
    if (options.initFrom.empty())
      throw UserError("export needs weights: pass --init-from DIR or FILE.safetensors");
  });
  SourceFiles files;
  Json config; // made before weights are read, so that a bad file is reported at once
  executor.world().runCollectively([&] {
    if (!executor.isFirst())
      return;
    ExportDirectory::check(options.exportDirectory, options.initFrom);
    checkTokenizer(chooseTokenizer(options));
    files = findSourceFiles(executor.program().config, options.initFrom);
    config = makeConfig(executor.program(), options, files);
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
  const FileTypes types = chooseTypes(executor.program(), options, settings, loaded);
  if (directory && types.known != loaded.types && !types.known.empty())
    std::fprintf(stderr,
                 "note: the weights are wider than the program's parameters, to which they were "
                 "rounded: the export has %s; for equal numbers, build with --set "
                 "precision.params=f64\n",
                 getStoredName(executor.program().dtype));
  const std::vector<Shard> shards =
      saveWeights(executor, ExportDirectory::folderIn(options.exportDirectory), types);
  if (directory) {
    const bool isOfSource = !files.config.empty();
    config.erase("quantization_config"); // exported weights are numbers
    if (!isOfSource || !haveSourceTypes(shards, {loaded.types}))
      setType(config, chooseTorchType(shards), isOfSource);
    config["titan"] = describeSettings(settings);
    writeOtherFiles(executor, options, settings, files, config, shards);
    directory->publish();
    std::printf("wrote %s of weights in %s to %s\n", counted(std::ssize(shards), "file").c_str(),
                describeTypes(shards).c_str(), options.exportDirectory.c_str());
  }
  executor.barrier("writing an export");
  return 0;
}

} // namespace titan::rt
