#include "WeightStore.h"
#include "base/Error.h"
#include "files/ReadFile.h"
#include "manifest/Manifest.h"
#include "titan/runtime/bfloat16.h"

#include <cstring>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

namespace fs = std::filesystem;

/// The files of an index. Each must be in the same directory, because the index is untrusted.
std::vector<std::string> filesOfIndex(const fs::path &index) {
  constexpr size_t longest = size_t{1} << 30;
  nlohmann::json json = nlohmann::json::parse(readWholeFile(index.string(), longest), nullptr,
                                              /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    throw UserError(index.string() + ": not an index of safetensors files (no weight_map)");
  std::set<std::string> names;
  for (const auto &[tensor, file] : json["weight_map"].items()) {
    if (!file.is_string() ||
        fs::path(file.get<std::string>()).filename() != file.get<std::string>())
      throw UserError(index.string() + ": tensor '" + tensor +
                      "' is not mapped to a file name in this directory");
    names.insert(file.get<std::string>());
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> filesUnder(const std::string &path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    return {path};
  fs::path directory(path);
  if (fs::exists(directory / "model.safetensors", ignored))
    return {(directory / "model.safetensors").string()};
  fs::path index = directory / "model.safetensors.index.json";
  if (!fs::exists(index, ignored)) {
    std::vector<std::string> checkpoints = listCheckpoints(path);
    if (checkpoints.empty())
      throw UserError("no weights in '" + path +
                      "': it has no model.safetensors, no model.safetensors.index.json and no "
                      "checkpoints");
    return filesUnder(checkpoints[0]);
  }
  std::vector<std::string> paths;
  for (const std::string &name : filesOfIndex(index))
    paths.push_back((directory / name).string());
  return paths;
}

float fromHalf(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  if (exponent == 0) { // zero or subnormal: mantissa * 2^-24
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  uint32_t word = sign | (exponent == 31 ? 0xff : exponent + 112) << 23 | mantissa << 13;
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

float fromBfloat(uint16_t bits) {
  uint32_t word = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

/// Converts `count` stored elements; memory may be unaligned.
template <typename From, typename To, typename Convert>
void convertRun(const std::byte *from, int64_t count, To *to, Convert convert) {
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    to[i] = static_cast<To>(convert(value));
  }
}

template <typename To>
bool convertRun(const std::string &dtype, const std::byte *from, int64_t count, To *to) {
  auto same = [](auto value) { return value; };
  if (dtype == "F32")
    convertRun<float>(from, count, to, same);
  else if (dtype == "F64")
    convertRun<double>(from, count, to, same);
  else if (dtype == "BF16")
    convertRun<uint16_t>(from, count, to, fromBfloat);
  else if (dtype == "F16")
    convertRun<uint16_t>(from, count, to, fromHalf);
  else
    return false;
  return true;
}

/// Integers are converted only from integers: a rounded count would be wrong.
bool convertRun(const std::string &dtype, const std::byte *from, int64_t count, int64_t *to) {
  auto same = [](auto value) { return value; };
  if (dtype == "I64")
    convertRun<int64_t>(from, count, to, same);
  else if (dtype == "I32")
    convertRun<int32_t>(from, count, to, same);
  else
    return false;
  return true;
}

int64_t elementBytes(const StoredTensor &tensor) {
  int64_t count = 1;
  for (int64_t extent : tensor.shape)
    count *= extent;
  return count == 0 ? 0 : static_cast<int64_t>(tensor.bytes.size()) / count;
}

} // namespace

WeightStore::WeightStore(const std::string &path) : WeightStore(path, filesUnder(path)) {}

WeightStore::WeightStore(std::string name, const std::vector<std::string> &paths)
    : root(std::move(name)) {
  for (const std::string &path : paths) {
    files.push_back(std::make_unique<SafetensorsFile>(path));
    for (const auto &[tensorName, tensor] : files.back()->tensors())
      if (!byName.emplace(tensorName, &tensor).second)
        throw UserError(root + ": the tensor '" + tensorName + "' is in two files");
  }
}

std::string WeightStore::directory() const {
  return fs::path(files.front()->path()).parent_path().string();
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

void WeightStore::readRange(const std::string &name, int64_t first, int64_t count, DType type,
                            void *out) const {
  const StoredTensor *tensor = find(name);
  if (!tensor)
    throw UserError(fmt::format("{}: there is no tensor '{}'", root, name));
  int64_t bytes = elementBytes(*tensor);
  if (first < 0 || count < 0 ||
      (first + count) * bytes > static_cast<int64_t>(tensor->bytes.size()))
    throw UserError(fmt::format("{}: the tensor '{}' has no elements {} to {}", root, name, first,
                                first + count));
  const std::byte *from = tensor->bytes.data() + first * bytes;
  bool known =
      type == DType::F64    ? convertRun(tensor->dtype, from, count, static_cast<double *>(out))
      : type == DType::BF16 ? convertRun(tensor->dtype, from, count, static_cast<bf16 *>(out))
      : type == DType::I64  ? convertRun(tensor->dtype, from, count, static_cast<int64_t *>(out))
                            : convertRun(tensor->dtype, from, count, static_cast<float *>(out));
  if (!known)
    throw UserError(fmt::format("{}: the tensor '{}' is {}, the program needs {}", root, name,
                                tensor->dtype, type == DType::I64 ? "int64" : "floating point"));
}

void WeightStore::release() const {
  for (const auto &file : files)
    file->release();
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
