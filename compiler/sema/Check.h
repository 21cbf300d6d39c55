// Semantic analysis as one call: a file and what the command line says about it in, a checked
// program out. Everything that is wrong is in the diagnostics then.
#ifndef TITAN_COMPILER_SEMA_CHECK_H
#define TITAN_COMPILER_SEMA_CHECK_H

#include "compiler/sema/Derivation.h"
#include "compiler/sema/Elaborator.h"
#include "compiler/sema/Mesh.h"
#include "compiler/sema/Optimizers.h"

#include <set>

namespace titan::sema {

struct CheckRequest {
  std::string file;
  std::string train;  ///< --train: a run, or a model to look at; empty: the only one
  std::string model;  ///< --model: a model to look at, whatever runs there are
  std::string config; ///< --config: a TOML file of settings; empty: none
  std::vector<std::string> overrides;  ///< --set, which wins over the file
  std::vector<std::string> searchDirs; ///< -I, then the standard library
  std::optional<FileId> text;          ///< the file's text, where it is not to be read
  bool needsRun = false;               ///< a model alone, without data, is not enough
};

/// What the rest of the compiler needs to know of one run.
struct CheckedRun {
  Run run;
  Mesh mesh;
  std::string modelName; ///< as the run names it
  Model train;
  Model logits;    ///< its outputs at batch 1, for inference, as far as they exist there
  Updates updates; ///< of the parameters of `train`
};

/// Reports what `recompute` names and the model lacks.
void checkRecompute(const CheckedRun &checked, DiagnosticEngine &diags);

/// A file's declarations, loaded. Keep it as long as what was made from it.
class Checker {
public:
  Checker(SourceManager &sources, DiagnosticEngine &diags, const CheckRequest &request);

  /// Loads the file and its imports. False after an error.
  bool load();
  /// Checks the run that the request chooses.
  std::optional<CheckedRun> check();
  /// Checks every run, and every model that is complete without one. Gives the runs; nothing after
  /// an error.
  std::optional<std::vector<CheckedRun>> checkAll();
  /// The complete models of a file without runs, of which `check` takes the last unless the request
  /// names one.
  std::vector<std::string> candidateModels() const;

private:
  std::optional<CheckedRun> checkRun(const Symbol &symbol);
  bool checkUnusedMaps(const std::vector<CheckedRun> &checked);
  void chooseSizes(CheckedRun &checked);
  bool specialise(const CheckedRun &checked, int64_t batch, Model &model, DiagnosticEngine &diags);
  bool collectArguments(const Symbol &model, std::map<std::string, Argument> &arguments,
                        Symbol &base, std::vector<Derivation> &chain, DiagnosticEngine &diags);
  bool checkArguments(const Symbol &base, const std::map<std::string, Argument> &arguments,
                      DiagnosticEngine &diags);
  bool specialiseForInference(CheckedRun &checked);
  void warnUnused(const Model &model);
  void checkTrains(const CheckedRun &checked);
  bool isComplete(const Symbol &model, std::set<std::string> given, unsigned depth) const;
  std::vector<Symbol> declared(bool trains) const;
  std::optional<Symbol> choose();
  std::optional<Symbol> chooseModel();
  void reportNoRun(const Symbol &model);
  const syntax::Decl *modelOf(Symbol run) const;
  bool parseOverrides();

  SourceManager &sources;
  DiagnosticEngine &diags;
  const CheckRequest &request;
  Library library;
  const Unit *unit = nullptr;
  std::vector<Override> overrides;
  size_t work = 0; ///< of all that is elaborated
};

} // namespace titan::sema

#endif
