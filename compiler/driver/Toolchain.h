// How emitted programs are compiled and linked on this machine: read from titan-runtime.json, which
// the build writes beside the runtime's libraries, so that titanc works from the build tree and
// from an installation alike.
#ifndef TITAN_COMPILER_DRIVER_TOOLCHAIN_H
#define TITAN_COMPILER_DRIVER_TOOLCHAIN_H

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/emission/EmitCpp.h"

#include <optional>
#include <string>
#include <vector>

namespace titan::driver {

struct Toolchain {
  emission::Target target = emission::Target::Cpu;
  std::string compiler;                   ///< of emitted source: a C++ compiler, or nvcc
  std::string linker;                     ///< always a C++ compiler
  std::vector<std::string> headers;       ///< folders of Titan's headers
  std::vector<std::string> include;       ///< of others'
  std::vector<std::string> compile, link; ///< `link` begins with what programs link first
  std::vector<std::string> loads;         ///< libraries of Titan's that programs load when they run
  std::string torch;                      ///< the folder of LibTorch's libraries

  /// The toolchain of this titanc. Reports why and returns nothing where it cannot be read, or
  /// where the runtime was not built for `target`.
  static std::optional<Toolchain> find(emission::Target target, DiagnosticEngine &diags);
  /// What emitted files are called.
  const char *sourceSuffix() const { return target == emission::Target::Cuda ? ".cu" : ".cpp"; }
  /// torchrun of the environment whose LibTorch programs load, else the one on the path; empty:
  /// none.
  std::string findTorchrun() const;
};

/// Runs a program with the terminal's output; its exit status, or 127 with a message. What it says
/// to the standard error goes to the file `errors`, where one is named.
int runProgram(const std::vector<std::string> &command, llvm::StringRef errors = {});
/// Runs a program in the place of this one; returns only where it cannot, with 127 and a message.
int execProgram(const std::vector<std::string> &command);

} // namespace titan::driver

#endif
