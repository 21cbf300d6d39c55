// One invocation of titanc: what the command line says, the sources read, what was diagnosed, and
// how it is reported. Commands get a CompilerInstance and return an exit status: 0; 1 with
// diagnostics; 2 for wrong usage.
#ifndef TITAN_COMPILER_DRIVER_COMPILERINSTANCE_H
#define TITAN_COMPILER_DRIVER_COMPILERINSTANCE_H

#include "compiler/sema/check/Check.h"

namespace titan::driver {

/// The options that all commands share.
struct CommonOptions {
  std::string file;
  std::string train;
  std::string model;                   ///< --model: look at this model, whatever runs the file has
  std::string config;                  ///< --config FILE.toml
  std::vector<std::string> overrides;  ///< --set PATH=VALUE
  std::vector<std::string> searchDirs; ///< -I
  std::optional<std::string> text;     ///< the file's, where it is not to be read
  std::vector<std::string> plugins;    ///< --load-pass-plugin
  std::vector<std::string> insertions; ///< --insert-pass
  bool warningsAsErrors = false;
  bool json = false;            ///< results as JSON
  bool jsonDiagnostics = false; ///< --diagnostics=json
  std::string color = "auto";
};

class CompilerInstance {
public:
  explicit CompilerInstance(const CommonOptions &options);

  /// Loads and checks the run that the command line chooses. Nothing after an error.
  std::optional<sema::CheckedRun> check();
  /// The same for what is to train: a file's models alone are an error.
  std::optional<sema::CheckedRun> checkRun();
  /// Loads the file and checks everything in it that can be checked without compiling it. Gives the
  /// runs; nothing after an error.
  std::optional<std::vector<sema::CheckedRun>> checkAll();
  /// The models among which `check` chose the last, since nobody said which.
  std::vector<std::string> candidateModels() const { return checker.candidateModels(); }
  /// Prints the diagnostics; 1 if there was an error, else `status`.
  int finish(int status = 0);
  /// Prints the differences between the diagnostics and the expectations in the sources' comments;
  /// 1 if there is one.
  int finishVerify();

  const CommonOptions &options;
  SourceManager sources;
  DiagnosticEngine diags{sources};

private:
  int print(const DiagnosticEngine &engine, int status) const;

  sema::CheckRequest request;
  sema::Checker checker;
};

/// The standard library's directory: beside the installed program, or that of the source tree.
std::string standardLibraryDir();

} // namespace titan::driver

#endif
