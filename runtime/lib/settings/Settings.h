// The settings of a run at launch: what the file said (Program::settings), overridden by the
// configuration file, overridden by the command line. Paths are those of the compiler's option
// table (optimizer.lr, schedule.warmup, data.path, steps, seed, ...). What was fixed at compile
// time can be repeated but not changed: the emitted code depends on it.
//
// Errors: SourceError, at what was written; an unknown path names the nearest one.
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
  /// When all is set: refuses what has no effect beside the rest.
  void check() const;

  bool has(const std::string &path) const { return values.count(path) != 0; }
  std::string text(const std::string &path, const std::string &fallback) const;
  int64_t integer(const std::string &path, int64_t fallback) const;
  double number(const std::string &path, double fallback) const;

  /// All settings in force, as text by path.
  std::map<std::string, std::string> all() const;
  /// The same in one spelling: numbers that are equal are the same text.
  std::map<std::string, std::string> canonical() const;
  /// All as TOML (dotted keys), which --config takes again; what would be refused or is not
  /// said at all is in comments.
  std::string toToml() const;

private:
  struct Value {
    std::string text;
    bool compileTime;
    SettingRule rule;
    TextLocation setAt = {}; // at launch, else without a name
  };
  bool isInForce(const std::string &path, const Value &value) const;
  [[noreturn]] void refuseUnknown(const SettingText &text) const;
  std::map<std::string, Value> values;
};

/// The learning rate of a step (from 1) as a multiple of its peak: linear warm-up, so that step 1
/// has 1 / warmup, then from there to the last step a decay to the fraction `to`. One step more
/// than the rest is counted, so that the last step still learns (TorchTitan's schedule with a decay
/// that begins right after the warm-up).
struct Schedule {
  int64_t steps = 1;
  int64_t warmup = 0;
  std::string decay = "constant"; ///< constant, linear or cosine
  double to = 0;

  double factor(int64_t step) const;
};

Schedule scheduleOf(const Settings &settings);

} // namespace titan::rt
