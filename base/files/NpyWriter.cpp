#include "base/files/NpyWriter.h"

namespace titan {

namespace {

const char *describe(DType type) {
  switch (type) {
  case DType::F64:
    return "<f8";
  case DType::F32:
  case DType::BF16:
    return "<f4";
  case DType::I64:
    return "<i8";
  case DType::Bool:
    return "|b1";
  }
  return "";
}

/// Version 1: the length of the header has two bytes, and the elements begin at a multiple of 64.
std::string makeHeader(DType type, std::span<const int64_t> shape) {
  std::string sizes;
  for (int64_t size : shape)
    sizes += std::to_string(size) + ", ";
  std::string text = std::string("{'descr': '") + describe(type) +
                     "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  constexpr size_t prefix = 10;
  while ((prefix + text.size() + 1) % 64 != 0)
    text += ' ';
  text += '\n';
  std::string header = "\x93NUMPY";
  header +=
      {'\1', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

} // namespace

NpyWriter::NpyWriter(const std::string &path, DType type, std::span<const int64_t> shape)
    : path(path), file(path) {
  file.append(makeHeader(type, shape));
}

void NpyWriter::finish() {
  file.sync();
  file.rename();
  syncParent(path);
}

} // namespace titan
