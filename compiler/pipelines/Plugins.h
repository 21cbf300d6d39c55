// Pass plugins: libraries of --load-pass-plugin, and the positions of their passes
// (--insert-pass=after:PHASE=PASS). titanc and titan-opt share this code.
#pragma once

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace titan::pipelines {

/// A pass, or a textual pass pipeline, that runs after a phase.
struct Insertion {
  std::string phase, pass;
  bool isUsed = false; ///< some pipeline contains it
};

/// Loads a library and registers its passes. Passes register the dialects that they depend on.
llvm::Error loadPassPlugin(const std::string &file);

/// Parses `after:PHASE=PASS`. The plugin of PASS must be loaded before.
llvm::Expected<Insertion> readInsertion(const std::string &text);

/// Appends the insertions after `phase`.
mlir::LogicalResult insertAfter(llvm::StringRef phase, std::vector<Insertion> &insertions,
                                mlir::OpPassManager &manager);

} // namespace titan::pipelines
