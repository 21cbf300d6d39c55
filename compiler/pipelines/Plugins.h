// Pass plugins: libraries of --load-pass-plugin, and the positions of their passes
// (--insert-pass). titanc and titan-opt share this code.
#pragma once

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace titan::pipelines {

/// A pass, or a textual pass pipeline, and its position: before or after a phase, or before or
/// after a pass of a phase.
struct Insertion {
  std::string text;      ///< as the user wrote it: `after:shard=cse`
  std::string phase;     ///< the phase, or the one that contains `neighbour`
  std::string neighbour; ///< a pass of the phase; empty: the position is that of the phase
  bool isBefore = false;
  std::string pass;        ///< the pipeline, nested if its passes run on functions
  bool leavesNest = false; ///< `neighbour` runs on functions, `pass` on the module
  bool isUsed = false;     ///< some pipeline contains it
};

/// Loads a library and registers its passes. Passes register the dialects that they depend on.
llvm::Error loadPassPlugin(const std::string &file);

/// Adds the dialects of all loaded libraries that are dialect plugins, too: IR that contains their
/// operations can be read.
void registerPluginDialects(mlir::DialectRegistry &registry);

/// Parses `POSITION=PASS` with POSITION `after:NAME` or `before:NAME`, where NAME is a phase or one
/// of its passes. The plugin of PASS must be loaded before.
llvm::Expected<Insertion> readInsertion(const std::string &text);

/// Notes a plugin that others have loaded.
void addPlugin(const std::string &file);

/// The loaded plugins: the name of each library, and a digest of its content.
llvm::ArrayRef<std::string> getPlugins();

} // namespace titan::pipelines
