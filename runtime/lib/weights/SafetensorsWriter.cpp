#include "titan/runtime/error.h"
#include "titan/runtime/safetensors.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace titan::rt {

namespace {

const char *formatName(DType type) {
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

[[noreturn]] void fail(const std::string &path) {
  throw Fault("cannot write '" + path + "': " + std::strerror(errno));
}

void writeAll(int file, const std::string &path, const void *data, size_t size, int64_t at) {
  const char *bytes = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t written = ::pwrite(file, bytes, size, at);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      fail(path);
    bytes += written;
    at += written;
    size -= static_cast<size_t>(written);
  }
}

/// The header as it stands in the file, length included; fills in where each tensor begins.
std::string makeHeader(const std::vector<TensorSpec> &tensors,
                       const std::map<std::string, std::string> &metadata,
                       std::vector<int64_t> &begins) {
  nlohmann::ordered_json header;
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  int64_t at = 0;
  for (const TensorSpec &tensor : tensors) {
    int64_t bytes = sizeOf(tensor.type);
    for (int64_t extent : tensor.shape)
      bytes *= extent;
    header[tensor.name] = {{"dtype", formatName(tensor.type)},
                           {"shape", tensor.shape},
                           {"data_offsets", {at, at + bytes}}};
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
    : role(role), target(path), temporary(path + ".partial") {
  std::string header = makeHeader(tensors, metadata, begins);
  int create = role == Role::Create ? O_CREAT | O_TRUNC : 0;
  file = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC | create, 0644);
  if (file < 0)
    fail(temporary);
  if (role == Role::Join)
    return;
  writeAll(file, temporary, header.data(), header.size(), 0);
  if (::ftruncate(file, begins.back()) != 0)
    fail(temporary);
}

SafetensorsWriter::~SafetensorsWriter() {
  if (file >= 0) { // not finished: leave nothing behind that looks like a file of weights
    ::close(file);
    if (role == Role::Create)
      ::unlink(temporary.c_str());
  }
}

void SafetensorsWriter::write(size_t index, int64_t byteOffset, std::span<const std::byte> data) {
  writeAll(file, temporary, data.data(), data.size(), begins[index] + byteOffset);
}

void SafetensorsWriter::finish() {
  bool failed = ::fsync(file) != 0;
  failed |= ::close(file) != 0;
  file = -1;
  if (!failed && role == Role::Create)
    failed = std::rename(temporary.c_str(), target.c_str()) != 0;
  if (failed)
    fail(target);
}

} // namespace titan::rt
