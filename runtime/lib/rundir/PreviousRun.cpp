#include "PreviousRun.h"

#include "files/ReadFile.h"

#include "base/Error.h"
#include "base/settings/Toml.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

/// What config.toml says about checkpoints.
struct SaveSettings {
  int64_t every = 0; ///< 0: unknown
  bool isAsync = false;

  /// The last step whose row can be on the disk before that of the first checkpoint. A checkpoint
  /// that is saved in the background is complete before the next one begins.
  int64_t lastStepWithoutCheckpoint() const { return isAsync ? 2 * every : every; }
};

SaveSettings readSaveSettings(const fs::path &config) {
  constexpr size_t longest = size_t{16} << 20;
  TomlFile file;
  SaveSettings result;
  try {
    file = readToml(readWholeFile(config.string(), longest));
  } catch (const UserError &) { // absent
    return result;
  }
  if (!file.mistake.empty())
    return result;
  for (const TomlSetting &setting : file.settings) {
    if (setting.path.size() != 2 || setting.path[0].text != "checkpoint")
      continue;
    const TomlValue &value = setting.value;
    if (setting.path[1].text == "every" && value.kind == TomlValue::Kind::Integer)
      result.every = value.integer;
    if (setting.path[1].text == "mode" && value.kind == TomlValue::Kind::Text)
      result.isAsync = value.text == "async";
  }
  return result;
}

/// The step of a row; 0 if the line is not a row.
int64_t readRowStep(std::string_view line) {
  auto row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  bool hasStep = row.is_object() && row.contains("step") && row["step"].is_number_integer();
  return hasStep ? row["step"].get<int64_t>() : 0;
}

/// The largest step with a row; 0 if there is none.
int64_t findLastRowStep(const fs::path &metrics) {
  int64_t last = 0;
  std::string line;
  readChunks(metrics.string(), [&](std::span<const std::byte> chunk) {
    line.append(reinterpret_cast<const char *>(chunk.data()), chunk.size());
    for (size_t end; (end = line.find('\n')) != std::string::npos; line.erase(0, end + 1))
      last = std::max(last, readRowStep(std::string_view(line).substr(0, end)));
    return line.size() < size_t{1} << 20; // longer lines are not rows
  });
  return last;
}

} // namespace

std::string describeLostCheckpoints(const std::string &runDirectory) {
  const fs::path run(runDirectory);
  const SaveSettings saves = readSaveSettings(run / "config.toml");
  const int64_t last = saves.every > 0 ? findLastRowStep(run / "metrics.jsonl") : 0;
  // Perhaps killed while it saved the first one.
  if (saves.every <= 0 || last <= saves.lastStepWithoutCheckpoint())
    return "";
  return fmt::format(
      "'{}' has rows up to step {} of a run that saved a checkpoint every {} steps, "
      "but '{}' has none: check that all file systems are mounted, pass another --out DIR, or "
      "start over with --resume none",
      (run / "metrics.jsonl").string(), last, saves.every, (run / "checkpoints").string());
}

} // namespace titan::rt
