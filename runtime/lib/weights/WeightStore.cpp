#include "WeightStore.h"
#include "QuantizedTensors.h"
#include "ShardIndex.h"
#include "base/Error.h"
#include "files/ReadFile.h"
#include "manifest/Manifest.h"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

namespace fs = std::filesystem;

/// The safetensors files of the weights that the path names; none for a directory of
/// torch.distributed.checkpoint.
std::vector<std::string> filesUnder(const std::string &path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    return {path};
  fs::path directory(path);
  if (isDistributedCheckpoint(path))
    return {};
  for (const char *whole : {"model.safetensors", "adapter_model.safetensors"})
    if (fs::exists(directory / whole, ignored))
      return {(directory / whole).string()};
  fs::path index = directory / "model.safetensors.index.json";
  if (!fs::exists(index, ignored)) {
    std::vector<std::string> checkpoints = listCheckpoints(path);
    for (const char *pickle : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
      if (checkpoints.empty() && fs::exists(directory / pickle, ignored))
        throw UserError(fmt::format(
            "'{0}' has its weights in pickles ({1}), which can execute code when they are read; "
            "where "
            "you trust them, convert them: python3 -c \"import transformers as t; "
            "t.AutoModelForCausalLM.from_pretrained('{0}', dtype='auto').save_pretrained('{0}')\"",
            path, pickle));
    if (checkpoints.empty())
      throw UserError("no weights in '" + path +
                      "': it has no model.safetensors, no model.safetensors.index.json and no "
                      "checkpoints");
    return filesUnder(checkpoints[0]);
  }
  std::vector<std::string> paths;
  constexpr size_t longest = size_t{1} << 30;
  for (const std::string &name :
       listShardFiles(readWholeFile(index.string(), longest), index.string()))
    paths.push_back((directory / name).string());
  return paths;
}

/// Weights are read as the kind of number that was stored: a rounded count would be wrong, and an
/// integer may be a quantised weight.
bool isReadable(const StoredType *stored, DType type) {
  const bool isInteger = type == DType::I64;
  return stored && stored->kind == (isInteger ? NumberKind::Integer : NumberKind::Float);
}

} // namespace

WeightStore::WeightStore(const std::string &path) : WeightStore(path, filesUnder(path)) {}

WeightStore::WeightStore(std::string name, const std::vector<std::string> &paths)
    : root(std::move(name)) {
  if (paths.empty()) {
    assembled = std::make_unique<AssembledTensors>(root);
    assembled->addTo(byName);
  }
  for (const std::string &path : paths) {
    files.push_back(std::make_unique<SafetensorsFile>(path));
    for (const auto &[tensorName, tensor] : files.back()->tensors())
      if (!byName.emplace(tensorName, &tensor).second)
        throw UserError(root + ": the tensor '" + tensorName + "' is in two files");
  }
  try {
    quantized = replaceQuantized(byName);
  } catch (const UserError &error) {
    throw UserError(root + ": " + error.what());
  }
}

std::string WeightStore::directory() const {
  return assembled ? root : fs::path(files.front()->path()).parent_path().string();
}

std::vector<std::string> WeightStore::names() const {
  std::vector<std::string> all;
  for (const auto &[name, tensor] : byName)
    all.push_back(name);
  return all;
}

const StoredTensor *WeightStore::find(const std::string &name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : found->second;
}

const LazyTensor *WeightStore::findQuantized(const std::string &name) const {
  auto found = quantized.find(name);
  return found == quantized.end() ? nullptr : found->second.get();
}

const LazyTensor *WeightStore::findLazy(const std::string &name) const {
  const LazyTensor *lazy = assembled ? assembled->find(name) : nullptr;
  return lazy ? lazy : findQuantized(name);
}

void WeightStore::requireElements(const StoredTensor *tensor) const {
  for (const auto &[name, candidate] : byName)
    if (candidate == tensor)
      if (const LazyTensor *lazy = findLazy(name))
        lazy->require(0, std::ssize(tensor->bytes) / *storedBytes(tensor->dtype));
}

StridedSource WeightStore::open(const std::string &name, DType type) const {
  const StoredTensor *tensor = find(name);
  if (!tensor)
    throw UserError(fmt::format("{}: there is no tensor '{}'", root, name));
  const StoredType *stored = findStoredType(tensor->dtype);
  if (!isReadable(stored, type))
    throw UserError(fmt::format("{}: the tensor '{}' is {}, the program needs {}", root, name,
                                tensor->dtype,
                                type == DType::I64 ? "integers"
                                                   : "F64, F32, F16 or BF16; quantized weights "
                                                     "must be dequantized and saved again"));
  return {*tensor, *stored, type, findLazy(name)};
}

void WeightStore::readRange(const std::string &name, int64_t first, int64_t count, DType type,
                            void *out) const {
  const StridedSource source = open(name, type);
  if (first < 0 || count < 0 || first + count > source.countElements())
    throw UserError(fmt::format("{}: the tensor '{}' has no elements {} to {}", root, name, first,
                                first + count));
  source.read(first, count, out);
}

void WeightStore::release() const {
  for (const auto &file : files)
    file->release();
  for (const auto &[name, tensor] : quantized)
    tensor->release();
  if (assembled)
    assembled->release();
}

void WeightStore::expectExactly(const std::map<std::string, std::vector<int64_t>> &shapes) const {
  for (const auto &[name, shape] : shapes) {
    const StoredTensor *tensor = find(name);
    if (!tensor)
      throw UserError(
          fmt::format("{}: there is no tensor '{}', which the program needs", root, name));
    if (tensor->shape != shape)
      throw UserError(fmt::format("{}: the tensor '{}' has shape [{}], the program needs [{}]",
                                  root, name, fmt::join(tensor->shape, ", "),
                                  fmt::join(shape, ", ")));
  }
  for (const auto &[name, tensor] : byName)
    if (!shapes.count(name))
      throw UserError(fmt::format("{}: the program has no parameter '{}'", root, name));
}

} // namespace titan::rt
