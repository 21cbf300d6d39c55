#include "DistributedCheckpoint.h"

#include "Pickle.h"
#include "TorchTensor.h"

#include "base/Error.h"
#include "files/ReadFile.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

using Value = Pickle::Value;
using Kind = Pickle::Kind;
using Sizes = std::vector<int64_t>;

constexpr const char *metadataName = ".metadata";
constexpr size_t longestMetadata = size_t{1} << 30;
constexpr size_t mostChunks = 8192; ///< of a tensor

constexpr std::string_view tensorMetadata =
    "torch.distributed.checkpoint.metadata TensorStorageMetadata";

const std::set<std::string_view> &knownGlobals() {
  static const std::set<std::string_view> names = {
      "torch.distributed.checkpoint.metadata Metadata",
      tensorMetadata,
      "torch.distributed.checkpoint.metadata BytesStorageMetadata",
      "torch.distributed.checkpoint.metadata TensorProperties",
      "torch.distributed.checkpoint.metadata _MEM_FORMAT_ENCODING",
      "torch.distributed.checkpoint.metadata ChunkStorageMetadata",
      "torch.distributed.checkpoint.metadata MetadataIndex",
      "torch.distributed.checkpoint.metadata StorageMeta",
      "torch.distributed.checkpoint.filesystem _StorageInfo",
      "torch.serialization _get_layout",
      "pathlib PosixPath",
      "pathlib PurePosixPath",
      "collections OrderedDict",
      "torch Size",
      "torch float64",
      "torch float32",
      "torch float16",
      "torch bfloat16",
      "torch int64",
      "torch int32",
      "torch int16",
      "torch int8",
      "torch uint8",
      "torch bool",
      "torch float8_e4m3fn",
      "torch float8_e5m2"};
  return names;
}

/// A torch.Size, a call with one tuple.
std::optional<Sizes> readSize(const Value *value) {
  if (!value || !value->isCall("torch Size") || value->items[1]->items.size() != 1)
    return std::nullopt;
  Sizes sizes;
  for (const Value *item : value->items[1]->items[0]->items) {
    if (!item->is(Kind::Integer) || item->integer < 0)
      return std::nullopt;
    sizes.push_back(item->integer);
  }
  return sizes;
}

/// Nothing if there are too many.
std::optional<int64_t> countElements(const Sizes &sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(count, size, &count))
      return std::nullopt;
  return count;
}

bool isInside(const ChunkedTensor::Chunk &chunk, const Sizes &shape) {
  if (chunk.offsets.size() != shape.size() || chunk.sizes.size() != shape.size())
    return false;
  for (size_t d = 0; d < shape.size(); ++d)
    if (chunk.offsets[d] > shape[d] || chunk.sizes[d] > shape[d] - chunk.offsets[d])
      return false;
  return true;
}

bool overlap(const ChunkedTensor::Chunk &a, const ChunkedTensor::Chunk &b) {
  for (size_t d = 0; d < a.sizes.size(); ++d)
    if (a.offsets[d] + a.sizes[d] <= b.offsets[d] || b.offsets[d] + b.sizes[d] <= a.offsets[d])
      return false;
  return true;
}

/// Whether the boxes, which are inside, contain each element once.
bool isPartition(const ChunkedTensor &tensor) {
  int64_t count = 0;
  for (size_t i = 0; i < tensor.chunks.size(); ++i) {
    count += *countElements(tensor.chunks[i].sizes);
    for (size_t j = 0; j < i; ++j)
      if (overlap(tensor.chunks[i], tensor.chunks[j]))
        return false;
  }
  return count == countElements(tensor.shape);
}

/// Where the bytes of a chunk are.
struct Range {
  std::string file;
  int64_t offset, length;
};
using Ranges = std::map<std::pair<std::string, Sizes>, Range>; ///< by tensor and offsets

class MetadataReader {
public:
  explicit MetadataReader(std::string path)
      : path(std::move(path)), text(readWholeFile(this->path, longestMetadata)),
        pickle(this->path, std::as_bytes(std::span(text)), knownGlobals()) {}

  /// All tensors, with chunks without elements.
  std::map<std::string, ChunkedTensor> readTensors() const {
    std::map<std::string, ChunkedTensor> tensors;
    forEach("state_dict_metadata", [&](const Value &key, const Value &value) {
      if (!value.isCall(tensorMetadata))
        return;
      std::string name(require(&key, Kind::Text).text);
      tensors.emplace(name, readTensor(name, value));
    });
    return tensors;
  }

  Ranges readRanges() const {
    Ranges ranges;
    forEach("storage_data", [&](const Value &key, const Value &value) {
      const std::optional<Sizes> offsets = readSize(key.field("offset"));
      if (!offsets) // no tensor
        return;
      if (const Value *transforms = value.field("transform_descriptors");
          transforms && !transforms->is(Kind::None) && !transforms->items.empty())
        throw UserError(path + ": its files are compressed or encrypted, which is not supported");
      const std::string file(require(value.field("relative_path"), Kind::Text).text);
      if (file.empty() || file.find('/') != std::string::npos || file[0] == '.')
        fail(fmt::format("'{}' is no name of a file in the directory", file));
      ranges[{std::string(require(key.field("fqn"), Kind::Text).text), *offsets}] = {
          file, require(value.field("offset"), Kind::Integer).integer,
          require(value.field("length"), Kind::Integer).integer};
    });
    return ranges;
  }

private:
  [[noreturn]] void fail(const std::string &reason) const {
    throw UserError(fmt::format("{}: {}", path, reason));
  }

  const Value &require(const Value *value, Kind kind) const {
    if (!value || !value->is(kind))
      fail("metadata of an unknown form");
    return *value;
  }

  template <typename Visit> void forEach(const char *member, Visit visit) const {
    const std::vector<const Value *> &items =
        require(pickle.root().field(member), Kind::Dict).items;
    for (size_t i = 0; i < items.size(); i += 2)
      visit(*items[i], *items[i + 1]);
  }

  ChunkedTensor readTensor(const std::string &name, const Value &value) const {
    const std::optional<Sizes> shape = readSize(value.field("size"));
    if (!shape || !countElements(*shape))
      fail(fmt::format("the tensor '{}' has no valid shape", name));
    ChunkedTensor tensor{"", *shape, {}};
    for (const Value *item : require(value.field("chunks"), Kind::List).items) {
      const std::optional<Sizes> offsets = readSize(item->field("offsets")),
                                 sizes = readSize(item->field("sizes"));
      if (!offsets || !sizes)
        fail(fmt::format("the tensor '{}' has a chunk without a shape", name));
      if (ChunkedTensor::Chunk chunk{*offsets, *sizes, {}, {}}; !isInside(chunk, tensor.shape))
        fail(fmt::format("the tensor '{}' has a chunk outside of its shape", name));
      else if (countElements(chunk.sizes) != 0)
        tensor.chunks.push_back(std::move(chunk));
    }
    if (tensor.chunks.size() > mostChunks || !isPartition(tensor))
      fail(fmt::format("the chunks of the tensor '{}' do not make up its shape", name));
    return tensor;
  }

  std::string path, text;
  Pickle pickle;
};

} // namespace

bool isDistributedCheckpoint(const std::string &directory) {
  std::error_code ignored;
  return fs::exists(fs::path(directory) / metadataName, ignored);
}

DistributedCheckpoint::DistributedCheckpoint(const std::string &directory) {
  const std::string metadata = (fs::path(directory) / metadataName).string();
  const MetadataReader reader(metadata);
  all = reader.readTensors();
  const Ranges ranges = reader.readRanges();
  for (auto &[name, tensor] : all)
    for (ChunkedTensor::Chunk &chunk : tensor.chunks) {
      const auto range = ranges.find({name, chunk.offsets});
      if (range == ranges.end())
        throw UserError(
            fmt::format("{}: a chunk of the tensor '{}' is in no file", metadata, name));
      const auto &[file, offset, length] = range->second;
      std::unique_ptr<MappedFile> &mapped = files[file];
      if (!mapped)
        mapped = std::make_unique<MappedFile>((fs::path(directory) / file).string());
      const std::span<const std::byte> bytes = mapped->bytes();
      if (offset < 0 || length < 0 || offset > std::ssize(bytes) ||
          length > std::ssize(bytes) - offset)
        throw UserError(
            fmt::format("{}: it is too short for the tensor '{}'", mapped->path(), name));
      const TorchTensor stored = readTorchTensor(
          mapped->path(), bytes.subspan(static_cast<size_t>(offset), static_cast<size_t>(length)));
      if (stored.shape != chunk.sizes || (!tensor.dtype.empty() && tensor.dtype != stored.dtype))
        throw UserError(
            fmt::format("{}: the tensor '{}' is not as its metadata say", mapped->path(), name));
      tensor.dtype = stored.dtype;
      chunk.strides = stored.strides;
      chunk.elements = stored.elements;
    }
}

void DistributedCheckpoint::release() const {
  for (const auto &[name, file] : files)
    file->release();
}

} // namespace titan::rt
