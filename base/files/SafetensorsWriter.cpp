// Writes safetensors files.
#include "base/files/DurableFile.h"
#include "base/files/Safetensors.h"

#include <nlohmann/json.hpp>

namespace titan {

const char *getStoredName(DType type) {
  switch (type) {
  case DType::F32:
    return "F32";
  case DType::F64:
    return "F64";
  case DType::BF16:
    return "BF16";
  case DType::I64:
    return "I64";
  case DType::Bool:
    return "BOOL";
  }
  return "";
}

namespace {

/// The file's header, including its length. `begins` receives the offset of each tensor in the
/// file, then the size of the file.
std::string makeHeader(const std::vector<TensorSpec> &tensors,
                       const std::map<std::string, std::string> &metadata,
                       std::vector<int64_t> &begins) {
  nlohmann::ordered_json header;
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  int64_t at = 0;
  for (const TensorSpec &tensor : tensors) {
    const std::string dtype = tensor.stored.empty() ? getStoredName(tensor.type) : tensor.stored;
    int64_t bytes = storedBytes(dtype).value();
    for (int64_t extent : tensor.shape)
      bytes *= extent;
    header[tensor.name] = {
        {"dtype", dtype}, {"shape", tensor.shape}, {"data_offsets", {at, at + bytes}}};
    begins.push_back(at);
    at += bytes;
  }
  begins.push_back(at); // the end
  std::string text = header.is_null() ? "{}" : header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' '); // data starts aligned, as the format recommends
  std::string prefix(8, '\0');
  for (int i = 0; i < 8; ++i)
    prefix[i] = static_cast<char>(text.size() >> (8 * i));
  for (int64_t &begin : begins)
    begin += static_cast<int64_t>(text.size()) + 8;
  return prefix + text;
}

} // namespace

SafetensorsWriter::SafetensorsWriter(const std::string &path,
                                     const std::vector<TensorSpec> &tensors,
                                     const std::map<std::string, std::string> &metadata, Role role)
    : role(role) {
  const auto fileRole = role == Role::Create ? PendingFile::Role::Create : PendingFile::Role::Join;
  asFault([&] { file = std::make_unique<PendingFile>(path, fileRole); });
  std::string header = makeHeader(tensors, metadata, begins);
  if (role == Role::Join)
    return;
  file->append(header);
  file->resize(begins.back());
}

SafetensorsWriter::~SafetensorsWriter() = default;

void SafetensorsWriter::write(size_t index, int64_t byteOffset, std::span<const std::byte> data) {
  isSynced.store(false, std::memory_order_relaxed);
  file->writeAt(begins[index] + byteOffset, data.data(), data.size());
}

void SafetensorsWriter::sync() {
  asFault([&] { file->sync(); });
  isSynced.store(true, std::memory_order_relaxed);
}

void SafetensorsWriter::finish() {
  if (!isSynced)
    sync();
  asFault([&] {
    if (role == Role::Create)
      file->rename();
  });
  file.reset();
}

} // namespace titan
