// Samples of arrays: each input of the program is an array of its name, and sample i is its element
// i along the first dimension. Arrays are the files NAME.npy of a folder, or the tensors of a
// safetensors file. Files are mapped, and a rank reads its part of a sample.
#pragma once

#include "SampleSet.h"
#include "files/StoredValues.h"

#include "base/files/MappedFile.h"

#include <memory>

namespace titan::rt {

class ArraySamples final : public SampleSet {
public:
  /// Errors unless each input has an array of one element or more, all of the same number, whose
  /// shape is that of the input, and whose numbers have its type and are in its index range:
  /// the first `checkedIndices` of an array. The program checks the others in its steps.
  ArraySamples(const std::string &path, const std::vector<InputSpec> &inputs);
  ~ArraySamples() override;

  int64_t samples() const override { return count; }
  void read(int64_t sample, size_t input, int64_t first, int64_t count, void *out) const override;

private:
  /// The array of an input.
  struct Column {
    DType type; ///< of the input
    StoredType stored;
    const std::byte *data;
    int64_t perSample; ///< elements
    const MappedFile *file;
  };
  class Files;
  std::string findFault(const std::vector<int64_t> &shape, const InputSpec &input,
                        const std::string &firstInput) const;

  void checkIndices(const InputSpec &input, const Column &column, const std::string &path) const;
  static void read(int64_t element, const Column &column, int64_t count, void *out);

  std::unique_ptr<Files> files;
  int64_t count = 0;
  std::vector<Column> columns;
};

} // namespace titan::rt
