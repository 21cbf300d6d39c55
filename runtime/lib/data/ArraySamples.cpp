#include "ArraySamples.h"

#include "base/Error.h"
#include "base/files/NpyFile.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace fs = std::filesystem;

/// The arrays of a folder or of a file. Those that the program reads are opened.
class ArraySamples::Files {
public:
  struct Array {
    const StoredTensor *content;
    const MappedFile *file;
  };

  explicit Files(const std::string &path) : path(path) {
    std::error_code ignored;
    if (path.ends_with(".safetensors"))
      safetensors.emplace(path, /*checksTruncation=*/true);
    else if (!fs::is_directory(path, ignored))
      throw UserError(
          fmt::format("'{}' has no arrays: expected a folder with one file NAME.npy per input, or "
                      "a .safetensors file with one tensor per input (titan-prepare --arrays "
                      "converts .npz, .parquet and .arrow files)",
                      path));
  }

  Array open(const std::string &name) {
    const std::set<std::string> names = listNames();
    if (!names.contains(name))
      throw UserError(
          fmt::format("'{}' has no array '{}', which the program reads; it has: {}", path, name,
                      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    if (safetensors)
      return {&safetensors->tensors().at(name), &safetensors->mapping()};
    const NpyFile &npy = *npyFiles.emplace_back(std::make_unique<NpyFile>(
        (fs::path(path) / (name + ".npy")).string(), /*checksTruncation=*/true));
    return {&npy.array(), &npy.mapping()};
  }

private:
  std::set<std::string> listNames() const {
    std::set<std::string> names;
    if (safetensors)
      for (const auto &[name, tensor] : safetensors->tensors())
        names.insert(name);
    else
      for (const fs::directory_entry &entry : fs::directory_iterator(path))
        if (entry.path().extension() == ".npy")
          names.insert(entry.path().stem().string());
    return names;
  }

  std::string path;
  std::vector<std::unique_ptr<NpyFile>> npyFiles;
  std::optional<SafetensorsFile> safetensors;
};

ArraySamples::ArraySamples(const std::string &path, const std::vector<InputSpec> &inputs)
    : files(std::make_unique<Files>(path)) {
  if (inputs.empty())
    throw UserError(fmt::format("'{}' is read as arrays, but the program has no inputs", path));
  for (const InputSpec &input : inputs) {
    auto refuse = [&](const std::string &reason) {
      throw UserError(fmt::format("'{}': the array '{}' {}", path, input.name, reason));
    };
    const auto &[content, file] = files->open(input.name);
    const StoredType *stored = findStoredType(content->dtype);
    if (!stored || !converts(*stored, input.type))
      refuse(fmt::format("has the type {}, which cannot be converted to {}", content->dtype,
                         getName(input.type)));
    if (std::string reason = findFault(content->shape, input, inputs[0].name); !reason.empty())
      refuse(reason);
    count = content->shape[0];
    const int64_t perSample =
        std::accumulate(input.shape.begin(), input.shape.end(), int64_t(1), std::multiplies<>());
    columns.push_back({input.type, *stored, content->bytes.data(), perSample, file});
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    checkIndices(inputs[i], columns[i], path);
}

void ArraySamples::checkIndices(const InputSpec &input, const Column &column,
                                const std::string &path) const {
  const IndexRange range = input.indexRange;
  if (range.isAll())
    return;
  std::vector<int64_t> buffer(1 << 16);
  const int64_t end = std::min(count * column.perSample, checkedIndices);
  for (int64_t at = 0; at < end; at += static_cast<int64_t>(buffer.size())) {
    const int64_t size = std::min<int64_t>(static_cast<int64_t>(buffer.size()), end - at);
    read(at, column, size, buffer.data());
    const auto bad = std::find_if(buffer.begin(), buffer.begin() + size,
                                  [&](int64_t index) { return !range.contains(index); });
    if (bad != buffer.begin() + size)
      throw UserError(fmt::format(
          "'{}': the array '{}' has {} in sample {}, and the program uses it as an index {}", path,
          input.name, *bad, (at + (bad - buffer.begin())) / column.perSample,
          range.least == INT64_MIN ? fmt::format("of at most {}", range.greatest)
                                   : fmt::format("from {} to {}", range.least, range.greatest)));
  }
}

/// The error in the shape of the array of `input`; empty if the shape is right. The array of
/// `firstInput` has determined the number of samples.
std::string ArraySamples::findFault(const std::vector<int64_t> &shape, const InputSpec &input,
                                    const std::string &firstInput) const {
  if (shape.empty() ||
      !std::equal(shape.begin() + 1, shape.end(), input.shape.begin(), input.shape.end()))
    return fmt::format("has the shape [{}], the program reads [samples{}{}]",
                       fmt::join(shape, ", "), input.shape.empty() ? "" : ", ",
                       fmt::join(input.shape, ", "));
  if (shape[0] == 0)
    return "has no samples";
  if (!columns.empty() && shape[0] != count)
    return fmt::format("has {} samples, '{}' has {}", shape[0], firstInput, count);
  return "";
}

ArraySamples::~ArraySamples() = default;

void ArraySamples::read(int64_t sample, size_t input, int64_t first, int64_t count,
                        void *out) const {
  const Column &column = columns[input];
  read(sample * column.perSample + first, column, count, out);
}

void ArraySamples::read(int64_t element, const Column &column, int64_t count, void *out) {
  column.file->requireUntruncated();
  convertStored(column.stored, column.data + element * column.stored.bytes, count, column.type,
                out);
  column.file->release();
}

} // namespace titan::rt
