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

/// `checkpoint.every` of config.toml; 0 if it is absent.
int64_t readSaveInterval(const fs::path &config) {
  constexpr size_t longest = size_t{16} << 20;
  TomlFile file;
  try {
    file = readToml(readWholeFile(config.string(), longest));
  } catch (const UserError &) { // absent
    return 0;
  }
  if (!file.mistake.empty())
    return 0;
  for (const TomlSetting &setting : file.settings)
    if (setting.path.size() == 2 && setting.path[0].text == "checkpoint" &&
        setting.path[1].text == "every" && setting.value.kind == TomlValue::Kind::Integer)
      return setting.value.integer;
  return 0;
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
  const int64_t every = readSaveInterval(run / "config.toml");
  const int64_t last = every > 0 ? findLastRowStep(run / "metrics.jsonl") : 0;
  if (every <= 0 || last <= every) // perhaps killed while it saved the first
    return "";
  return fmt::format(
      "'{}' has rows up to step {} of a run that saved a checkpoint every {} steps, "
      "but '{}' has none: check that all file systems are mounted, pass another --out DIR, or "
      "start over with --resume none",
      (run / "metrics.jsonl").string(), last, every, (run / "checkpoints").string());
}

} // namespace titan::rt
