// The weights of labels: PREFIX.weights.bin of indexed tokens, one u8 for each token of PREFIX.bin,
// 1 if the token counts in the loss as a label and 0 if not. Without the file, each label counts.
//
// Errors: UserError naming the file and the reason.
#pragma once

#include "base/data/DType.h"
#include "base/files/MappedFile.h"

#include <memory>
#include <string>

namespace titan::rt {

/// The file with the weights of an indexed file of tokens.
inline std::string weightsFile(const std::string &prefix) {
  return prefix + ".weights.bin";
}

class LabelWeights {
public:
  /// The weights beside an indexed file of `tokens` tokens, which may be absent.
  LabelWeights(const std::string &prefix, int64_t tokens);
  /// Each label counts.
  LabelWeights() = default;

  /// Whether there is a file.
  bool exist() const { return file != nullptr; }

  /// Writes the weights of tokens [first, first + count) in a floating-point type.
  void read(int64_t first, int64_t count, DType type, void *out) const;

private:
  /// Throws UserError unless all of these weights are 0 or 1.
  void check(int64_t first, int64_t count) const;

  std::unique_ptr<MappedFile> file;
};

} // namespace titan::rt
