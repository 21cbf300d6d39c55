// Passes of other people: libraries that are loaded by --load-pass-plugin, and where their passes
// run (--insert-pass=after:PHASE=PASS). titanc and titan-opt read both the same way.
#ifndef TITAN_COMPILER_PIPELINES_PLUGINS_H
#define TITAN_COMPILER_PIPELINES_PLUGINS_H

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace titan::pipelines {

/// A pass, or a pipeline of passes as MLIR writes it, that runs when a phase has ended.
struct Insertion {
  std::string phase, pass;
  bool isUsed = false; ///< some pipeline has it
};

/// Loads a library and registers its passes. Dialects come with the passes that depend on them.
llvm::Error loadPassPlugin(const std::string &file);

/// Reads `after:PHASE=PASS`. PASS must be known, so plugins are loaded before.
llvm::Expected<Insertion> readInsertion(const std::string &text);

/// Appends what is to run after `phase`.
mlir::LogicalResult insertAfter(llvm::StringRef phase, std::vector<Insertion> &insertions,
                                mlir::OpPassManager &manager);

} // namespace titan::pipelines

#endif
