// Pipelines as text: insertion of a pass next to another one.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace titan::pipelines {

/// A pass to insert into the text of a pipeline.
struct TextInsertion {
  llvm::StringRef pass;      ///< a pass or pipeline
  llvm::StringRef neighbour; ///< the pass next to which it belongs
  bool isBefore = false;
  /// The pass belongs beside the nest, such as `func.func(...)`, of the neighbour: the nest is
  /// divided.
  bool leavesNest = false;
};

/// How often the pass `name` occurs in the pipeline.
unsigned countPasses(llvm::StringRef pipeline, llvm::StringRef name);

/// Whether the first occurrence of the pass `name` is within a nest such as `func.func(...)`.
bool isNested(llvm::StringRef pipeline, llvm::StringRef name);

/// The pipeline with the pass next to the first occurrence of its neighbour; nothing without one.
std::optional<std::string> insertPass(llvm::StringRef pipeline, const TextInsertion &insertion);

} // namespace titan::pipelines
