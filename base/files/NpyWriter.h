// Writes an array in NumPy's format (NpyFile.h), row by row.
//
// Errors: as of PendingFile.
#pragma once

#include "base/data/DType.h"
#include "base/files/DurableFile.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace titan {

class NpyWriter {
public:
  /// `shape` includes the rows. Of bfloat16, which NumPy lacks, the elements are written as f32.
  NpyWriter(const std::string &path, DType type, std::span<const int64_t> shape);

  /// Appends elements of the type, in row-major order. Those of bfloat16 are f32.
  void append(std::string_view elements) { file.append(elements); }
  /// Makes the complete file durable under its name.
  void finish();

private:
  std::string path;
  PendingFile file;
};

} // namespace titan
