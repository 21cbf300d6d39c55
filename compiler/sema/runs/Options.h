// The one table of a run's options: path, type, default, when it is fixed, what it means. Files,
// `with { ... }`, `--set` and the launched program all go by it, so an option cannot exist in one
// of them alone, and `titanc info --options` prints it.
#ifndef TITAN_COMPILER_SEMA_OPTIONS_H
#define TITAN_COMPILER_SEMA_OPTIONS_H

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/sema/program/Value.h"

#include "base/settings/SettingRule.h"

#include <functional>
#include <limits>
#include <map>

namespace titan::sema {

enum class OptionType {
  Integer,
  Float,
  Pair,
  String,
  Choice,
  Integers,
  Optimizer, ///< the name of one
  Words,
  Bool,
  Initialiser, ///< a number or a distribution; no value but a part of a model
};
/// What an option of this type takes, in words.
const char *spelling(OptionType type);

/// Compile: the emitted program depends on it. Launch: the program reads it when it starts.
enum class Fixed { Compile, Launch };

struct OptionSpec {
  std::string path;
  OptionType type;
  Value initial; ///< an Error value: there is none, and the option must be set
  Fixed fixed;
  std::string doc;
  double least = 0, most = std::numeric_limits<double>::infinity(); ///< of numbers, both included
  std::vector<std::string> choices = {};                            ///< of words; none: any names
  std::vector<std::string> samples = {}; ///< legal values; empty: those of its type
  const char *needs = "";                ///< a setting without which it changes nothing
};

/// All options that are not part of a model or a parallel map, nor of parameters by a pattern.
const std::vector<OptionSpec> &optionTable();
/// Of `optimizer.group "PATTERN"`, besides the options of optimizers, and of `parameters
/// "PATTERN"`; their paths begin behind those.
const std::vector<OptionSpec> &groupOptions();
const std::vector<OptionSpec> &ruleOptions();
/// The paths of a table's options.
std::vector<std::string> namesOf(const std::vector<OptionSpec> &table);
/// Null if there is no such option.
const OptionSpec *findOption(const std::string &path);
const OptionSpec *findOption(const std::vector<OptionSpec> &table, const std::string &path);
/// The present name of an option that was renamed; any other path itself.
const std::string &currentPath(const std::string &path);
/// Two or more values that the option can have, as they are written. So whoever lists the options
/// can also show, and test, what each of them changes.
std::vector<std::string> samplesOf(const OptionSpec &spec);

/// One option as it is in force.
struct Option {
  Value value;
  Location loc;          ///< where it was set; invalid for a default
  Location nameLoc = {}; ///< of the name that it was set by, where that is checked later
};

/// Notes in `seen` that a path is set here. False, once reported, if the same declaration has set
/// it before.
bool setsOnce(std::map<std::string, Location> &seen, const std::string &path, Location at,
              DiagnosticEngine &diags);

/// What an option of one value takes, as the program is told that reads it when it starts. An
/// option of launch has no effect beside the default of what it needs.
SettingRule ruleOf(const OptionSpec &spec);
/// Says what is wrong with a setting in the words that a program has for it, too. An Error value.
Value report(const SettingMistake &mistake, Location at, DiagnosticEngine &diags);

/// Checks the type and range of a value for an option and converts it (an integer for a float).
/// An Error value after a report.
Value checkOption(const OptionSpec &spec, const Value &value, Location at, DiagnosticEngine &diags);

} // namespace titan::sema

#endif
