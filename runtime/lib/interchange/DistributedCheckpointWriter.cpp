#include "DistributedCheckpointWriter.h"

#include "PickleWriter.h"
#include "TorchTensor.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

namespace titan::rt {

namespace {

constexpr const char *metadataName = ".metadata", *suffix = ".distcp";
constexpr std::string_view metadataModule = "torch.distributed.checkpoint.metadata";
constexpr int64_t largestFile = int64_t{5} << 30;

/// The constant of PyTorch.
std::string_view getTorchType(std::string_view dtype) {
  static const std::map<std::string_view, std::string_view> types = {
      {"F64", "float64"}, {"F32", "float32"}, {"F16", "float16"}, {"BF16", "bfloat16"},
      {"I64", "int64"},   {"I32", "int32"},   {"I16", "int16"},   {"I8", "int8"},
      {"U8", "uint8"},    {"BOOL", "bool"}};
  const auto found = types.find(dtype);
  if (found == types.end())
    throw UserError(
        fmt::format("PyTorch's archives of tensors have no elements of type {}", dtype));
  return found->second;
}

void writeSize(PickleWriter &pickle, std::span<const int64_t> sizes) {
  pickle.global("torch", "Size");
  pickle.mark();
  pickle.tuple(sizes);
  pickle.endTuple();
  pickle.call();
}

/// An object of the class whose state is a dict, which `write` fills with keys and values.
template <typename Write>
void writeObject(PickleWriter &pickle, std::string_view module, std::string_view name,
                 Write write) {
  pickle.global(module, name);
  pickle.object();
  pickle.emptyDict();
  pickle.mark();
  write();
  pickle.setItems();
  pickle.build();
}

void writeProperties(PickleWriter &pickle, std::string_view dtype) {
  pickle.global(metadataModule, "TensorProperties");
  pickle.object();
  pickle.mark();
  pickle.global("torch", getTorchType(dtype));
  pickle.global("torch.serialization", "_get_layout");
  pickle.mark();
  pickle.string("torch.strided");
  pickle.endTuple();
  pickle.call();
  pickle.truth(false); // no gradient
  pickle.global(metadataModule, "_MEM_FORMAT_ENCODING");
  pickle.mark();
  pickle.integer(0); // contiguous
  pickle.endTuple();
  pickle.call();
  pickle.truth(false); // not pinned
  pickle.endTuple();
  pickle.build();
}

std::vector<int64_t> makeOffsets(int64_t first, size_t rank) {
  std::vector<int64_t> offsets(rank, 0);
  if (rank > 0)
    offsets[0] = first;
  return offsets;
}

} // namespace

bool DistributedCheckpointWriter::isFile(std::string_view name) {
  return name == metadataName || (name.starts_with("__") && name.ends_with(suffix));
}

DistributedCheckpointWriter::DistributedCheckpointWriter(std::string directory, int64_t chunkBytes)
    : directory(std::move(directory)), chunkBytes(chunkBytes) {}

void DistributedCheckpointWriter::beginFile() {
  fileName = fmt::format("__0_{}{}", numFiles++, suffix);
  file = std::make_unique<PendingFile>((std::filesystem::path(directory) / fileName).string());
  fileBytes = 0;
}

void DistributedCheckpointWriter::endFile() {
  if (!file)
    return;
  file->sync();
  file->rename();
  file.reset();
}

void DistributedCheckpointWriter::add(const std::string &name, std::string_view dtype,
                                      const std::vector<int64_t> &shape,
                                      std::span<const std::byte> elements) {
  Entry entry{name, std::string(dtype), shape, {}};
  const int64_t bytes = std::ssize(elements), rows = shape.empty() ? 1 : shape[0];
  const int64_t rowBytes = rows == 0 ? 0 : bytes / rows;
  const int64_t atOnce = std::max<int64_t>(1, rowBytes == 0 ? rows : chunkBytes / rowBytes);
  for (int64_t first = 0; first < std::max<int64_t>(rows, 1); first += atOnce) {
    if (!file || fileBytes > largestFile) {
      endFile();
      beginFile();
    }
    Chunk chunk{makeOffsets(first, shape.size()), shape, fileName, fileBytes, 0};
    if (!shape.empty())
      chunk.sizes[0] = std::min(atOnce, rows - first);
    const auto elementsOfChunk =
        elements.subspan(static_cast<size_t>(first * rowBytes),
                         static_cast<size_t>(shape.empty() ? bytes : chunk.sizes[0] * rowBytes));
    const TorchArchive archive = makeTorchArchive(dtype, chunk.sizes, elementsOfChunk);
    file->append(archive.head);
    file->append({reinterpret_cast<const char *>(elementsOfChunk.data()), elementsOfChunk.size()});
    file->append(archive.tail);
    chunk.length =
        std::ssize(archive.head) + std::ssize(elementsOfChunk) + std::ssize(archive.tail);
    fileBytes += chunk.length;
    entry.chunks.push_back(std::move(chunk));
  }
  entries.push_back(std::move(entry));
}

std::string DistributedCheckpointWriter::makeMetadata() const {
  PickleWriter pickle;
  auto key = [&](const char *name) { pickle.string(name); };
  auto writeDict = [&](const char *name, auto writeEntry) {
    key(name);
    pickle.emptyDict();
    pickle.mark();
    for (const Entry &entry : entries)
      writeEntry(entry);
    pickle.setItems();
  };
  auto writeChunk = [&](const Chunk &chunk) {
    writeObject(pickle, metadataModule, "ChunkStorageMetadata", [&] {
      key("offsets");
      writeSize(pickle, chunk.offsets);
      key("sizes");
      writeSize(pickle, chunk.sizes);
    });
  };
  auto writeTensor = [&](const Entry &entry) {
    pickle.string(entry.name);
    writeObject(pickle, metadataModule, "TensorStorageMetadata", [&] {
      key("properties");
      writeProperties(pickle, entry.dtype);
      key("size");
      writeSize(pickle, entry.shape);
      key("chunks");
      pickle.emptyList();
      pickle.mark();
      for (const Chunk &chunk : entry.chunks)
        writeChunk(chunk);
      pickle.append();
    });
  };
  auto writePath = [&](const Entry &entry) { // within nested dicts: there are none
    pickle.string(entry.name);
    pickle.mark();
    pickle.string(entry.name);
    pickle.endTuple();
  };
  auto writeRanges = [&](const Entry &entry) {
    for (size_t i = 0; i < entry.chunks.size(); ++i) {
      const Chunk &chunk = entry.chunks[i];
      writeObject(pickle, metadataModule, "MetadataIndex", [&] {
        key("fqn");
        pickle.string(entry.name);
        key("index");
        pickle.integer(static_cast<int64_t>(i));
        key("offset");
        writeSize(pickle, chunk.offsets);
      });
      writeObject(pickle, "torch.distributed.checkpoint.filesystem", "_StorageInfo", [&] {
        key("relative_path");
        pickle.string(chunk.file);
        key("offset");
        pickle.integer(chunk.offset);
        key("length");
        pickle.integer(chunk.length);
      });
    }
  };
  writeObject(pickle, metadataModule, "Metadata", [&] {
    writeDict("state_dict_metadata", writeTensor);
    writeDict("planner_data", writePath);
    writeDict("storage_data", writeRanges);
    key("storage_meta");
    pickle.none();
    key("version");
    pickle.string("1.0.0");
  });
  return std::move(pickle).finish();
}

void DistributedCheckpointWriter::finish() {
  endFile();
  syncDirectory(directory); // the files, before what makes them a checkpoint
  writeFileAtomically((std::filesystem::path(directory) / metadataName).string(), makeMetadata());
}

} // namespace titan::rt
