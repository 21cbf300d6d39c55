// A data set as numbered samples, each with a value for every input of the program. Implementations
// differ in what they read: a stream of tokens (TokenSamples.h) or arrays (ArraySamples.h). They
// take the list of inputs when they open the data, and refuse an input that the data cannot give.
//
// Errors: UserError naming file and reason.
#pragma once

#include "base/data/DType.h"
#include "base/data/IndexRange.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace titan::rt {

/// An input of a program. `shape` is that of one sample.
struct InputSpec {
  std::string name;
  DType type;
  std::vector<int64_t> shape;
  IndexRange indexRange = {};
};

/// The tokens, or indices of an array, that are checked before a run starts: about a second of
/// reading. They reveal a wrong vocabulary; a single bad one after them is found when it is read.
constexpr int64_t checkedIndices = int64_t(1) << 30;

class SampleSet {
public:
  virtual ~SampleSet() = default;
  virtual int64_t samples() const = 0;
  /// Writes elements [first, first + count) of input number `input` in this sample, row-major and
  /// in the type of the input. The range must be within the sample.
  virtual void read(int64_t sample, size_t input, int64_t first, int64_t count,
                    void *out) const = 0;
};

} // namespace titan::rt
