// The launch-time settings of a run: the values of the file (Program::settings), overridden by the
// configuration file, overridden by the command line. Paths are those of the compiler's option
// table (optimizer.lr, schedule.warmup, data.path, steps, seed, ...). Compile-time settings may be
// repeated but not changed, since the emitted code depends on them.
//
// Errors: SourceError at the source location; an unknown path names the nearest one.
#pragma once

#include "titan/runtime/program.h"

#include "SettingText.h"

#include <map>
#include <string>
#include <vector>

namespace titan::rt {

class Settings {
public:
  explicit Settings(const Program &program);

  /// Overrides a setting. Throws SourceError if the program refuses the path or the value.
  void set(const SettingText &text);
  /// Refuses settings that have no effect next to the others. Call it after all `set`.
  void check() const;

  bool has(const std::string &path) const { return values.count(path) != 0; }
  // The value of a setting; `fallback` if the program has none of this path.
  std::string text(const std::string &path, const std::string &fallback) const;
  /// The word of `path`, or if it is `auto` or not set, that of `other`.
  std::string resolveAuto(const std::string &path, const std::string &other,
                          const std::string &fallback) const;
  int64_t integer(const std::string &path, int64_t fallback) const;
  double number(const std::string &path, double fallback) const;
  /// The setting as an argument of a schedule: its number, or the index of its word among the
  /// choices. Throws std::out_of_range for an unknown path.
  double argument(const std::string &path) const;

  /// All effective settings, as text by path.
  std::map<std::string, std::string> all() const;
  /// All effective settings in canonical form: equal numbers have equal texts.
  std::map<std::string, std::string> canonical() const;
  /// All settings as TOML (dotted keys), a valid input of --config. Settings that --config would
  /// refuse, or that have no value, are comments.
  std::string toToml() const;

private:
  struct Value {
    std::string text;
    bool compileTime;
    SettingRule rule;
    TextLocation setAt = {}; // where it was set at launch, else without a name
  };
  bool isInForce(const std::string &path, const Value &value) const;
  [[noreturn]] void refuseUnknown(const SettingText &text) const;
  std::map<std::string, Value> values;
};

} // namespace titan::rt
