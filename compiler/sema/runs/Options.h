// The table of the options of a run: path, type, default, compile or launch time, description.
// Files, `with { ... }`, `--set` and emitted programs use this table, and `titanc info --options`
// prints it.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/sema/program/Value.h"

#include "base/settings/SettingRule.h"

#include <functional>
#include <limits>
#include <map>
#include <optional>

namespace titan::sema {

enum class OptionType {
  Integer,
  Float,
  Pair,
  String,
  Choice,
  Integers,
  Declaration, ///< the name of an optimizer or of a schedule
  Words,
  Dimension, ///< the name of a dimension of inputs
  Bool,
  Initialiser, ///< a number or a distribution; a component of the model
  Adapter,     ///< a function or block; a component of the model
};
/// The values of this type, as diagnostics name them.
const char *spelling(OptionType type);

/// Compile: the emitted program depends on it. Launch: the program reads it when it starts.
enum class Fixed { Compile, Launch };

struct OptionSpec {
  std::string path;
  OptionType type;
  Value initial; ///< an Error value if the option must be set
  Fixed fixed;
  std::string doc;
  double least = 0, most = std::numeric_limits<double>::infinity(); ///< inclusive bounds of numbers
  std::vector<std::string> choices = {}; ///< legal words; empty: all names
  std::vector<std::string> samples = {}; ///< legal values; empty: the samples of the type
  std::string needs = {};                ///< a setting without which the option has no effect
  std::string idleValue = {};            ///< the value of `needs` that disables the option
  /// Strings with this ending are paths, relative to the file that contains them.
  std::optional<std::string> pathEnd = {};
  /// For a required option: a choice `{path, word}` that makes the option optional.
  std::pair<std::string, std::string> optionalWith = {};
};

/// All options except arguments of models, degrees of maps and options with a parameter pattern.
const std::vector<OptionSpec> &optionTable();
/// The options of `optimizer.group "PATTERN"` (without those of optimizers) and of
/// `parameters "PATTERN"`. Their paths begin after the pattern.
const std::vector<OptionSpec> &groupOptions();
const std::vector<OptionSpec> &ruleOptions();
/// The paths of a table's options.
std::vector<std::string> getNames(const std::vector<OptionSpec> &table);
/// Null if there is no such option.
const OptionSpec *findOption(const std::string &path);
const OptionSpec *findOption(const std::vector<OptionSpec> &table, const std::string &path);
/// The current name of a renamed option; all other paths unchanged.
const std::string &currentPath(const std::string &path);
/// Two or more valid values in source syntax, for `titanc info --options` and for tests of the
/// effect of every option.
std::vector<std::string> getSampleValues(const OptionSpec &spec);

/// The value of one option in a run.
struct Option {
  Value value;
  Location loc;          ///< of the setting; invalid for a default
  Location nameLoc = {}; ///< of the name in the setting, for later checks
  unsigned layer = 0;    ///< of the declaration that sets it: Run::layer
};

/// The rule by which an emitted program checks an option of one value at launch. It rejects the
/// option while the option that it needs has its default.
SettingRule makeRule(const OptionSpec &spec);
/// The same for any option that needs another one, also for those that no launch sets.
SettingRule makeIdleRule(const OptionSpec &spec);
/// Reports an invalid value with the message of emitted programs. Returns an Error value.
Value report(const SettingMistake &mistake, Location at, DiagnosticEngine &diags);

/// Whether the value of an option is a path.
bool isPath(const OptionSpec &spec, const Value &value);

/// Checks the type and range of a value for an option and converts it (an integer for a float).
/// Returns an Error value after a report.
Value checkOption(const OptionSpec &spec, const Value &value, Location at, DiagnosticEngine &diags);

} // namespace titan::sema
