// One invocation of titanc: options, sources, diagnostics and their output. Commands use an
// instance and return an exit status: 0; 1 with errors; 2 for wrong usage.
#pragma once

#include "compiler/sema/check/Check.h"

namespace titan::driver {

/// The options that all commands share.
struct CommonOptions {
  std::string file;
  std::string train;
  std::string model;                   ///< --model: inspect this model, without a run
  std::string config;                  ///< --config FILE.toml
  std::vector<std::string> overrides;  ///< --set PATH=VALUE
  std::vector<std::string> searchDirs; ///< -I
  std::optional<std::string> text;     ///< the text of the file, if it is already loaded
  std::vector<std::string> plugins;    ///< --load-pass-plugin
  std::vector<std::string> insertions; ///< --insert-pass
  std::string pipeline;                ///< --pass-pipeline, which replaces the phases
  bool warningsAsErrors = false;
  bool json = false;            ///< results as JSON
  bool jsonDiagnostics = false; ///< --diagnostics=json
  std::string color = "auto";
};

class CompilerInstance {
public:
  explicit CompilerInstance(const CommonOptions &options);

  /// Loads and checks the selected run. Nothing after an error.
  std::optional<sema::CheckedRun> check();
  /// Likewise for training: a model without a run is an error.
  std::optional<sema::CheckedRun> checkRun();
  /// Loads the file and checks all of it without compilation. Returns the runs; empty after an
  /// error.
  std::optional<std::vector<sema::CheckedRun>> checkAll();
  /// The models from which `check` selected the last one by default.
  std::vector<std::string> candidateModels() const { return checker.candidateModels(); }
  /// Prints the diagnostics. Returns 1 if there was an error, else `status`.
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

/// The directory of the standard library: beside the installed program, or in the source tree.
std::string findStandardLibrary();

} // namespace titan::driver
