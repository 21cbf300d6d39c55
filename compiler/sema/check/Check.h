// Semantic analysis in one call. The input is a file with the command-line settings; the output is
// a checked program. All errors are in the diagnostics.
#pragma once

#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/elaboration/SpecifiedModel.h"
#include "compiler/sema/interchange/ApplyWeights.h"
#include "compiler/sema/interchange/Merges.h"
#include "compiler/sema/mesh/Mesh.h"
#include "compiler/sema/runs/Optimizers.h"
#include "compiler/sema/runs/Schedules.h"

#include <set>

namespace titan::sema {

struct CheckRequest {
  std::string file;
  std::string train;  ///< --train: a run, or a model to inspect; empty: the only one
  std::string model;  ///< --model: a model to inspect, without a run
  std::string config; ///< --config: a TOML file of settings; empty: none
  std::vector<std::string> overrides;  ///< --set, which overrides the file
  std::vector<std::string> searchDirs; ///< -I, then the standard library
  std::optional<FileId> text;          ///< the text of the file, if it is already loaded
  bool needsRun = false;               ///< a model without data is an error
};

/// The result of semantic analysis for one run.
struct CheckedRun {
  Run run;
  Mesh mesh;
  std::string modelName;  ///< as the run names it
  Adapters adapters = {}; ///< of the parameters of both models
  Model train;
  std::vector<CalledModel> calledModels = {}; ///< by `train`
  Model logits;    ///< the model for inference, at batch 1; some outputs may be missing
  Updates updates; ///< of the parameters of `train`
  std::optional<ScheduleFunction> schedule = {}; ///< of a run
  GroupSchedules groupSchedules = {};            ///< of the parameters of `train`
  std::optional<WeightMap> weights = {};         ///< of other software, if the model declares them
  std::optional<Model> merge = {};               ///< updates before an export; may have no body
  std::optional<std::string> config = {};        ///< of other software (exportConfig), if declared
};

/// Reports names in `recompute` that the model lacks.
void checkRecompute(const CheckedRun &checked, DiagnosticEngine &diags);

/// The loaded declarations of a file. Must outlive all results.
class Checker {
public:
  Checker(SourceManager &sources, DiagnosticEngine &diags, const CheckRequest &request);

  /// Loads the file and its imports. False after an error.
  bool load();
  /// Checks the run that the request selects.
  std::optional<CheckedRun> check();
  /// Checks every run, and every complete model without a run. Returns the runs, or nothing after
  /// an error.
  std::optional<std::vector<CheckedRun>> checkAll();
  /// The complete models of a file without runs. `check` uses the last one unless the request names
  /// one.
  std::vector<std::string> candidateModels() const;

private:
  std::optional<CheckedRun> checkRun(const Symbol &symbol);
  bool checkUnusedMaps(const std::vector<CheckedRun> &checked);
  void chooseSizes(CheckedRun &checked);
  std::optional<SpecifiedModel> specify(const Run &run, DiagnosticEngine &diags);
  std::optional<std::string> buildConfig(const CheckedRun &checked);
  void checkConfigs();
  /// Elaborates the model of the run. `batch` is a number of samples instead of the run's, for
  /// which errors are tolerated (`Specialisation::tolerant`); 0: that of the run. `called` receives
  /// the models that the model calls.
  bool specialise(const CheckedRun &checked, int64_t batch, Model &model, DiagnosticEngine &diags,
                  std::vector<CalledModel> *called = nullptr);
  /// The same without the rules of the run for parameters.
  bool elaborateModel(const CheckedRun &checked, int64_t batch, Model &model,
                      DiagnosticEngine &diags, std::vector<CalledModel> *called = nullptr);
  /// Finds the adapters of the run. False after an error.
  bool adapt(CheckedRun &checked);
  bool specialiseForInference(CheckedRun &checked);
  void warnUnused(const CheckedRun &checked);
  void checkTrains(const CheckedRun &checked);
  bool isComplete(const Symbol &model, std::set<std::string> given, unsigned depth) const;
  std::vector<Symbol> listDeclared(bool runs) const;
  /// The run or model that the request selects. Empty after a report.
  std::optional<Symbol> choose();
  std::optional<Symbol> chooseModel();
  void reportNoRun(const Symbol &model);
  const syntax::Decl *findModel(Symbol run) const;
  bool parseOverrides();

  SourceManager &sources;
  DiagnosticEngine &diags;
  const CheckRequest &request;
  Library library;
  const Unit *unit = nullptr;
  std::vector<Override> overrides;
  size_t work = 0; ///< evaluated expressions of all elaborations
};

} // namespace titan::sema
