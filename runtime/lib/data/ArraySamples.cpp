#include "ArraySamples.h"

#include "base/Error.h"
#include "base/files/NpyFile.h"

#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace fs = std::filesystem;

/// The arrays of a folder or of a file, by name.
class ArraySamples::Files {
public:
  struct Array {
    const StoredTensor *content;
    const MappedFile *file;
  };

  explicit Files(const std::string &path) : path(path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
      openFolder();
    else if (path.ends_with(".safetensors"))
      openSafetensors();
    else
      throw UserError(
          fmt::format("'{}' holds no arrays: expected a folder with a file NAME.npy for "
                      "each input, or a .safetensors file with a tensor for each",
                      path));
  }

  const Array &get(const std::string &name) const {
    auto found = arrays.find(name);
    if (found == arrays.end())
      throw UserError(
          fmt::format("'{}' has no array '{}', which the program reads; it has: {}", path, name,
                      arrays.empty() ? "none" : fmt::format("{}", fmt::join(names(), ", "))));
    return found->second;
  }

private:
  void openFolder() {
    for (const fs::directory_entry &entry : fs::directory_iterator(path)) {
      if (entry.path().extension() != ".npy")
        continue;
      npyFiles.push_back(
          std::make_unique<NpyFile>(entry.path().string(), /*checksTruncation=*/true));
      const NpyFile &file = *npyFiles.back();
      arrays.emplace(entry.path().stem().string(), Array{&file.array(), &file.mapping()});
    }
  }

  void openSafetensors() {
    safetensors.emplace(path, /*checksTruncation=*/true);
    for (const auto &[name, tensor] : safetensors->tensors())
      arrays.emplace(name, Array{&tensor, &safetensors->mapping()});
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto &[name, array] : arrays)
      all.push_back(name);
    return all;
  }

  std::string path;
  std::vector<std::unique_ptr<NpyFile>> npyFiles;
  std::optional<SafetensorsFile> safetensors;
  std::map<std::string, Array> arrays;
};

ArraySamples::ArraySamples(const std::string &path, const std::vector<InputSpec> &inputs)
    : files(std::make_unique<Files>(path)) {
  if (inputs.empty())
    throw UserError(fmt::format("'{}' is read as arrays, but the program has no inputs", path));
  for (const InputSpec &input : inputs) {
    const auto &[content, file] = files->get(input.name);
    const StoredTensor &array = *content;
    auto refuse = [&](const std::string &reason) {
      throw UserError(fmt::format("'{}': the array '{}' {}", path, input.name, reason));
    };
    if (array.shape.empty() || !std::equal(array.shape.begin() + 1, array.shape.end(),
                                           input.shape.begin(), input.shape.end()))
      refuse(fmt::format("has the shape [{}], the program reads [samples{}{}]",
                         fmt::join(array.shape, ", "), input.shape.empty() ? "" : ", ",
                         fmt::join(input.shape, ", ")));
    const StoredType *stored = findStoredType(array.dtype);
    if (!stored || !converts(*stored, input.type))
      refuse(
          fmt::format("has the type {}, which is not read as {}", array.dtype, nameOf(input.type)));
    if (array.shape[0] == 0)
      refuse("has no samples");
    if (!columns.empty() && array.shape[0] != count)
      refuse(fmt::format("has {} samples, '{}' has {}", array.shape[0], inputs[0].name, count));
    count = array.shape[0];
    int64_t perSample = 1;
    for (int64_t size : input.shape)
      perSample *= size;
    columns.push_back({input.type, *stored, array.bytes.data(), perSample, file});
  }
}

ArraySamples::~ArraySamples() = default;

void ArraySamples::read(int64_t sample, size_t input, int64_t first, int64_t count,
                        void *out) const {
  const Column &column = columns[input];
  const int64_t element = sample * column.perSample + first;
  column.file->requireUntruncated();
  convertStored(column.stored, column.data + element * column.stored.bytes, count, column.type,
                out);
  column.file->release();
}

} // namespace titan::rt
