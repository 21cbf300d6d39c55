// The commands to compile and link emitted programs. They come from titan-runtime.json, which the
// build writes beside the libraries of the runtime. titanc therefore works from the build tree and
// from an installation.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/emission/EmitCpp.h"

#include <optional>
#include <string>
#include <vector>

namespace titan::driver {

struct Toolchain {
  emission::Target target = emission::Target::Cpu;
  std::string compiler;             ///< of emitted source: a C++ compiler, or nvcc
  std::string linker;               ///< always a C++ compiler
  std::vector<std::string> headers; ///< folders of Titan's headers
  std::vector<std::string> include; ///< folders of CUDA's headers; empty for CPUs
  std::vector<std::string> compile; ///< flags of the compiler
  std::vector<std::string> link;    ///< flags and libraries in the order of the link line
  std::vector<std::string> loads;   ///< libraries of Titan that programs load at run time
  std::string torch;                ///< the directory of the libraries of LibTorch

  /// The toolchain of this titanc. Nothing, after a report, if the file is unreadable or the
  /// runtime was not built for `target`.
  static std::optional<Toolchain> find(emission::Target target, DiagnosticEngine &diags);
  /// Replaces the level of optimization, 0 to 3, in the flags of the compiler.
  void setOptimization(int level);
  /// The suffix of emitted files.
  const char *sourceSuffix() const { return target == emission::Target::Cuda ? ".cu" : ".cpp"; }
  /// torchrun of the environment whose LibTorch programs load, else the one in PATH; empty if there
  /// is none.
  std::string findTorchrun() const;
};

/// Runs a program on the terminal; returns its exit status, or 127 with a message. Its standard
/// error and output go to the files `errors` and `output`, if they are given.
int runProgram(const std::vector<std::string> &command, llvm::StringRef errors = {},
               llvm::StringRef output = {});
/// Replaces this process by a program. Returns only after a failure, with 127 and a message.
int execProgram(const std::vector<std::string> &command);

} // namespace titan::driver
