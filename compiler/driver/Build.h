// From a .titan file to an executable: emitted source, compiled and linked, kept in a cache by the
// hash of everything that went into it (Cache.h), so that an unchanged program starts at once.
#ifndef TITAN_COMPILER_DRIVER_BUILD_H
#define TITAN_COMPILER_DRIVER_BUILD_H

#include "compiler/driver/CompilerInstance.h"
#include "compiler/driver/Toolchain.h"

namespace titan::driver {

enum class EmitKind { Cpp, Project, Exe };

struct BuildOptions {
  std::string output; ///< empty: the file's name without .titan (.cpp for source)
  EmitKind emit = EmitKind::Exe;
  emission::Target target = emission::Target::Cpu;
  std::string cudaArch; ///< native, or a compute capability such as 90; empty: the runtime's
};

/// The program's source in C++ or CUDA C++. Nothing after an error, which the session holds.
std::optional<std::string> emitSource(CompilerInstance &instance, const sema::CheckedRun &run,
                                      emission::Target target);

/// The executable for `source` in the cache, compiled if it is not there. Empty after an error,
/// which is reported: emitted code that does not compile is a fault of titanc, never of the user.
std::string buildCached(const std::string &source, const std::string &name,
                        const Toolchain &toolchain, DiagnosticEngine &diags);

/// Writes a directory that builds by itself: source, headers, libraries, a CMakeLists.txt. `stem`
/// names the program; what other tools might not take in a file name is replaced.
bool writeProject(const std::string &source, llvm::StringRef stem, const std::string &directory,
                  const Toolchain &toolchain, DiagnosticEngine &diags);

/// `titanc build`.
int buildCommand(const CommonOptions &options, const BuildOptions &build);

struct RunOptions {
  emission::Target target = emission::Target::Cpu;
  int processes = 0;                  ///< 0: as many as the mesh has at least
  std::vector<std::string> arguments; ///< for the program
};
/// `titanc run`: builds into the cache and launches, by torchrun where there are several processes.
/// The program takes titanc's place, so that signals reach it and its status is the command's.
int runCommand(const CommonOptions &options, const RunOptions &run);

} // namespace titan::driver

#endif
