// Runs: the settings of a `train` declaration, of its base runs and of the command line. Later
// settings override earlier ones: base run, derived run, command line. All pass the same checks,
// and each value has its source location.
#pragma once

#include "compiler/sema/modules/Library.h"
#include "compiler/sema/program/DataDims.h"
#include "compiler/sema/runs/Options.h"

#include <map>

namespace titan::sema {

/// The schedule of a group with the values of its options.
struct GroupSchedule {
  Symbol symbol;
  std::vector<OptionSpec> options;
  std::map<std::string, Value> values; ///< of all options
};

/// `group "*norm" { weight_decay = 0, lr_scale = 0.5 }`: for each option, the last matching group
/// that sets it wins.
struct Group {
  std::string pattern;
  std::map<std::string, Option> values; ///< of `groupOptions()` and of the optimizer
  Location loc;
  unsigned layer = 0;    ///< of the declaration that contains it: Run::layer
  Symbol optimizer = {}; ///< of the parameters of the group; none: the run's
  std::vector<OptionSpec> optimizerOptions = {}; ///< the options of that optimizer
  std::optional<GroupSchedule> schedule = {};    ///< none: the run's
};

/// `parameters "layers.w*" { init = normal(0.01), frozen = true }`: later rules win.
struct ParameterRule {
  std::string pattern;
  std::optional<Initialiser> init;
  std::optional<bool> frozen;
  std::optional<std::string> initFrom;
  std::optional<bool> isExported;
  std::optional<Value> adapter; ///< a callable, or none
  Location loc;
  unsigned layer = 0; ///< of the declaration that contains it: Run::layer
};

/// A declaration that a run chooses by name, with the options that it declares. Their paths are
/// full: `optimizer.eps`.
struct Chosen {
  Symbol symbol;
  std::vector<OptionSpec> options;
  std::string initial;            ///< the name of the default
  std::vector<std::string> names; ///< of all visible declarations of the kind
};

/// A run before its model is specialised.
struct Run {
  std::string name;
  Symbol model; ///< a model or an alias of one
  Location modelLoc;
  Symbol parallel;                                ///< none: the default map
  std::map<std::string, Option> options;          ///< every option of the table
  std::map<std::string, Option> modelArguments;   ///< `model.layers = 2`
  std::map<std::string, Option> degrees;          ///< `parallel.tp = 2`
  std::map<std::string, Option> dataSizes;        ///< of dimensions of arrays: `data.height = 28`
  std::map<std::string, std::string> dimDefaults; ///< of `data.samples` and `data.positions`
  DataDims dims;                                  ///< set by resolveDataDims()
  Chosen optimizer;                               ///< of parameters without a group
  Chosen schedule;                                ///< of the learning rate
  std::vector<Group> groups;
  std::vector<ParameterRule> rules;
  /// The declaration that is read: base runs, the run, files, the command line. A later one may
  /// replace or disable settings of earlier ones on purpose.
  unsigned layer = 0;
  Location loc;

  const Value &operator[](const std::string &path) const { return options.at(path).value; }
  /// Whether the data are arrays, one per input, instead of a sequence of tokens.
  bool readsArrays() const { return options.at("data.format").value.isWord("arrays"); }
  /// The format of the data of the section `data` or `eval.data`.
  const std::string &findDataFormat(const std::string &section) const {
    const Value &format = options.at(section + ".format").value;
    return (format.isWord("auto") ? options.at("data.format").value : format).text;
  }
  /// Whether the program evaluates: a launch may name the data.
  bool evaluates() const {
    return !options.at("eval.data.path").value.text.empty() ||
           !options.at("eval.data.format").value.isWord("auto");
  }
  /// The table, and the options of the run's optimizer and schedule.
  std::vector<OptionSpec> allOptions() const;
};

/// A `--set` argument or a line of a configuration file, as a setting.
struct Override {
  syntax::Setting setting;
  bool fromFile = false; ///< settings of a file precede those of the command line
};

/// Reads `path=value`, where the path may have a pattern: `optimizer.group."*norm".weight_decay=0`.
/// Empty after an error.
std::optional<Override> parseOverride(const std::string &argument, SourceManager &sources,
                                      DiagnosticEngine &diags);

/// Reports recomputation settings that exclude each other.
void checkRecomputeConflicts(const Run &run, DiagnosticEngine &diags);
/// Reports contradictory options and sets options that follow from others.
void completeRun(Run &run, DiagnosticEngine &diags);

/// The run of a declaration, with defaults. Empty after an error.
std::optional<Run> resolveRun(const Symbol &train, const std::vector<Override> &overrides,
                              const Library &library, DiagnosticEngine &diags);

/// A run of defaults around a model, for commands that only look at the model.
std::optional<Run> defaultRun(const Symbol &model, const std::vector<Override> &overrides,
                              const Library &library, DiagnosticEngine &diags);

} // namespace titan::sema
