// Builds an executable from a .titan file or from IR: emits source, compiles and links it, and
// caches the result under the hash of all inputs (Cache.h), so an unchanged program starts at once.
#pragma once

#include "compiler/driver/CompilerInstance.h"
#include "compiler/driver/Toolchain.h"

namespace titan::driver {

enum class EmitKind { Cpp, Project, Exe };

struct BuildOptions {
  std::string output; ///< empty: the name of the file without .titan (.cpp for source)
  EmitKind emit = EmitKind::Exe;
  emission::Target target = emission::Target::Cpu;
  std::string cudaArch; ///< native, or a compute capability such as 90; empty: that of the runtime
  std::optional<int> optimization; ///< 0 to 3, for the C++ compiler; nothing: the runtime's level
};

/// The source of the program in C++ or CUDA C++. Nothing after an error, which `instance` records.
std::optional<std::string> emitSource(CompilerInstance &instance, const sema::CheckedRun &run,
                                      emission::Target target);

/// The same for a file of IR, which continues after the phase that `titan.phase` names. From IR
/// after the shard phase, a program with an `auto` axis has no faster variant for degree 1.
std::optional<std::string> emitSourceOfModule(CompilerInstance &instance, emission::Target target);

/// The cached executable for `source`, compiled if necessary. Empty after a reported error: emitted
/// code that does not compile is a fault of titanc, never of the user.
std::string buildCached(const std::string &source, const std::string &name,
                        const Toolchain &toolchain, DiagnosticEngine &diags);

/// The command that starts `processes` processes of an executable; empty after an error.
std::vector<std::string> makeLaunchCommand(const Toolchain &toolchain, int64_t processes,
                                           const std::string &executable, DiagnosticEngine &diags);

/// Writes a self-contained project: source, headers, libraries, CMakeLists.txt. `stem` names the
/// program; characters that other tools reject in file names are replaced.
bool writeProject(const std::string &source, llvm::StringRef stem, const std::string &directory,
                  const Toolchain &toolchain, DiagnosticEngine &diags);

/// `titanc build`.
int buildCommand(const CommonOptions &options, const BuildOptions &build);

struct RunOptions {
  emission::Target target = emission::Target::Cpu;
  int processes = 0;                  ///< 0: the minimum for the mesh
  std::optional<int> optimization;    ///< as in BuildOptions
  std::vector<std::string> arguments; ///< for the program
};
/// `titanc run`: builds into the cache and launches, by torchrun for several processes. The program
/// replaces the process of titanc, so it receives signals, and its exit status is that of the
/// command.
int runCommand(const CommonOptions &options, const RunOptions &run);

} // namespace titan::driver
