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

  void set(const SettingText &text);
  /// Refuses settings that have no effect next to the others. Call it after all `set`.
  void check() const;

  bool has(const std::string &path) const { return values.count(path) != 0; }
  std::string text(const std::string &path, const std::string &fallback) const;
  int64_t integer(const std::string &path, int64_t fallback) const;
  double number(const std::string &path, double fallback) const;

  /// All effective settings, as text by path.
  std::map<std::string, std::string> all() const;
  /// The same in canonical form: equal numbers have equal texts.
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

/// The learning rate of a step (from 1) as a multiple of its peak: linear warm-up, so that step 1
/// has 1 / warmup, then decay to the fraction `to`. The decay counts one step more than the rest,
/// so that the last step still learns (TorchTitan's schedule with a decay right after the warm-up).
struct Schedule {
  int64_t steps = 1;
  int64_t warmup = 0;
  std::string decay = "constant"; ///< constant, linear or cosine
  double to = 0;

  double factor(int64_t step) const;
};

Schedule scheduleOf(const Settings &settings);

} // namespace titan::rt
