// How files of other software name and lay out the parameters of a program. The compiler derives
// the map from a `weights` declaration; the runtime reads and writes by it. Plain data. Elements
// are counted row-major.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace titan {

/// A parameter as strided elements of stored tensors. The dimensions of one iteration of the
/// parameter are split into factors, row-major. Factor i has `sizes[i]` indices, `strides[i]`
/// elements apart in the stored tensor; a stride of 0 means that each index has a separate tensor.
struct StoredParameter {
  std::string parameter; ///< layers.wq
  /// The name of the stored tensor. `{i}` is the i-th index, `{i+3}` that index plus 3: first the
  /// iterations of the repeats, then the indices of the factors without a stride.
  std::string tensor;
  std::vector<int64_t> shape; ///< of the stored tensor
  int64_t start = 0;          ///< the stored element of index 0
  std::vector<int64_t> sizes, strides;
  bool operator==(const StoredParameter &) const = default;
};

struct WeightMap {
  std::string format; ///< "hf"; empty: the program declares no map
  std::vector<StoredParameter> parameters;
  /// Stored tensors that may exist and then equal another one: copy, original.
  std::vector<std::pair<std::string, std::string>> copies;
  std::vector<std::string> unused; ///< glob patterns of tensors that the model does not need
  /// Parameters that exports do not contain: the program's function `merge` merges them into
  /// others, or a rule of the run excludes them.
  std::vector<std::string> merged = {};
};

} // namespace titan
