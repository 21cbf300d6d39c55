// Reads and checks safetensors files.
#include "base/Error.h"
#include "base/files/Safetensors.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace titan {

std::optional<int64_t> storedBytes(const std::string &dtype) {
  static const std::map<std::string, int64_t> sizes = {
      {"F64", 8},  {"I64", 8},     {"U64", 8},     {"F32", 4},    {"I32", 4}, {"U32", 4},
      {"F16", 2},  {"BF16", 2},    {"I16", 2},     {"U16", 2},    {"I8", 1},  {"U8", 1},
      {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"F8_E8M0", 1}};
  auto found = sizes.find(dtype);
  if (found == sizes.end())
    return std::nullopt;
  return found->second;
}

namespace {

using Json = nlohmann::json;

/// The format's limit on headers.
constexpr uint64_t maxHeaderBytes = 100'000'000;

/// Parses the header of one file; every error names the file.
class HeaderParser {
public:
  explicit HeaderParser(const MappedFile &file) : file(file) {}

  /// Fills in the tensors; their spans point into the mapping.
  void run(std::map<std::string, StoredTensor> &tensors,
           std::map<std::string, std::string> &metadata) {
    Json header = parseJson();
    for (const auto &[name, entry] : header.items()) {
      if (name == "__metadata__")
        readMetadata(entry, metadata);
      else
        tensors[name] = readTensor(name, entry);
    }
    checkCoverage(tensors);
  }

private:
  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args &&...args) const {
    throw UserError(file.path() + ": " + fmt::format(format, std::forward<Args>(args)...));
  }

  Json parseJson() {
    auto bytes = file.bytes();
    if (bytes.size() < 8)
      fail("not a safetensors file: {} bytes, shorter than the header's length", bytes.size());
    uint64_t length = 0;
    for (int i = 7; i >= 0; --i)
      length = length << 8 | std::to_integer<uint64_t>(bytes[i]);
    if (length > maxHeaderBytes)
      fail("not a safetensors file: a header of {} bytes (at most {})", length, maxHeaderBytes);
    if (length > bytes.size() - 8)
      fail("truncated: a header of {} bytes in a file of {}", length, bytes.size());
    data = bytes.subspan(8 + length);
    const char *begin = reinterpret_cast<const char *>(bytes.data()) + 8;
    try {
      Json header = Json::parse(begin, begin + length, uniqueKeys());
      if (!header.is_object())
        fail("the header is not a JSON object");
      return header;
    } catch (const Json::exception &error) {
      fail("the header is not valid JSON: {}", error.what());
    }
  }

  /// JSON parsers keep the last of duplicate keys silently, which would hide a tensor here.
  Json::parser_callback_t uniqueKeys() {
    return [this](int depth, Json::parse_event_t event, Json &value) {
      if (depth > 8)
        fail("the header nests deeper than the format allows");
      if (event == Json::parse_event_t::key && depth == 1 &&
          !seen.insert(value.get<std::string>()).second)
        fail("the tensor '{}' is in the header twice", value.get<std::string>());
      return true;
    };
  }

  void readMetadata(const Json &entry, std::map<std::string, std::string> &metadata) const {
    if (!entry.is_object())
      fail("__metadata__ is not an object");
    for (const auto &[key, value] : entry.items()) {
      if (!value.is_string())
        fail("__metadata__ '{}' is not a string", key);
      metadata[key] = value.get<std::string>();
    }
  }

  StoredTensor readTensor(const std::string &name, const Json &entry) const {
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
        !entry.contains("shape") || !entry["shape"].is_array() || !entry.contains("data_offsets") ||
        !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
      fail("tensor '{}' needs a dtype, a shape and two data_offsets", name);
    StoredTensor tensor;
    tensor.dtype = entry["dtype"].get<std::string>();
    auto size = storedBytes(tensor.dtype);
    if (!size)
      fail("tensor '{}' has the unknown dtype '{}'", name, tensor.dtype);
    int64_t expected = *size;
    for (const Json &extent : entry["shape"]) {
      tensor.shape.push_back(natural(extent, name, "shape"));
      if (__builtin_mul_overflow(expected, tensor.shape.back(), &expected))
        fail("tensor '{}' of shape [{}, ...] is larger than any file", name,
             fmt::join(tensor.shape, ", "));
    }
    int64_t begin = natural(entry["data_offsets"][0], name, "data_offsets");
    int64_t end = natural(entry["data_offsets"][1], name, "data_offsets");
    if (begin > end || static_cast<uint64_t>(end) > data.size())
      fail("tensor '{}' is at bytes {} to {} of {} data bytes{}", name, begin, end, data.size(),
           begin > end ? "" : "; the file is truncated or damaged");
    if (end - begin != expected)
      fail("tensor '{}' ({}, shape [{}]) needs {} bytes, but its data_offsets span {}", name,
           tensor.dtype, fmt::join(tensor.shape, ", "), expected, end - begin);
    tensor.bytes = data.subspan(begin, end - begin);
    return tensor;
  }

  int64_t natural(const Json &value, const std::string &name, const char *what) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > INT64_MAX)
      fail("tensor '{}' has {} in its {}, expected a non-negative integer", name,
           value.dump(-1, ' ', false, Json::error_handler_t::replace), what);
    return value.get<int64_t>();
  }

  /// The format requires that tensors cover the data without gaps and overlaps.
  void checkCoverage(const std::map<std::string, StoredTensor> &tensors) const {
    std::vector<std::pair<const std::byte *, const std::string *>> order;
    for (const auto &[name, tensor] : tensors)
      order.emplace_back(tensor.bytes.data(), &name);
    std::sort(order.begin(), order.end(), [&](const auto &a, const auto &b) {
      // Empty tensors may be anywhere; they precede a tensor that starts at the same offset.
      return a.first != b.first
                 ? a.first < b.first
                 : tensors.at(*a.second).bytes.size() < tensors.at(*b.second).bytes.size();
    });
    const std::byte *at = data.data();
    const std::string *before = nullptr;
    for (const auto &[begin, name] : order) {
      if (begin < at)
        fail("the tensors '{}' and '{}' overlap", *before, *name);
      if (begin > at)
        fail("{} bytes before the tensor '{}' belong to no tensor", begin - at, *name);
      at = begin + tensors.at(*name).bytes.size();
      before = name;
    }
    if (at != data.data() + data.size())
      fail("{} bytes at the end belong to no tensor", data.data() + data.size() - at);
  }

  const MappedFile &file;
  std::span<const std::byte> data;
  std::set<std::string> seen;
};

} // namespace

SafetensorsFile::SafetensorsFile(const std::string &path, bool checksTruncation)
    : file(path, checksTruncation) {
  HeaderParser(file).run(byName, meta);
}

} // namespace titan
