#include "Checkpoint.h"

#include "TensorFiles.h"

#include "titan/runtime/error.h"
#include "titan/runtime/safetensors.h"

#include <charconv>
#include <filesystem>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

constexpr const char *stateFile = "state.safetensors";
constexpr Role roles[] = {Role::Parameter, Role::State};

/// The step of a directory named step-N, or -1.
int64_t stepOf(const fs::path &directory) {
  std::string name = directory.filename().string();
  int64_t step = -1;
  if (name.rfind("step-", 0) != 0)
    return -1;
  auto [end, error] = std::from_chars(name.data() + 5, name.data() + name.size(), step);
  return error == std::errc() && end == name.data() + name.size() ? step : -1;
}

} // namespace

void saveCheckpoint(Session &session, const std::string &runDirectory, int64_t step) {
  fs::path directory = fs::path(runDirectory) / "checkpoints" / ("step-" + std::to_string(step));
  if (session.isFirst())
    fs::create_directories(directory);
  session.barrier("creating a checkpoint");
  saveTensors(session, (directory / stateFile).string(), roles, {{"step", std::to_string(step)}});
}

std::string findCheckpoint(const std::string &runDirectory, const std::string &choice) {
  if (choice == "none")
    return "";
  if (choice != "auto") {
    if (!fs::exists(fs::path(choice) / stateFile))
      throw UserError("'" + choice + "' is not a checkpoint: it has no " + stateFile);
    return choice;
  }
  std::error_code absent;
  int64_t latest = -1;
  std::string found;
  for (const auto &entry : fs::directory_iterator(fs::path(runDirectory) / "checkpoints", absent)) {
    int64_t step = stepOf(entry.path());
    if (step > latest && fs::exists(entry.path() / stateFile)) {
      latest = step;
      found = entry.path().string();
    }
  }
  return found;
}

int64_t loadCheckpoint(Session &session, const std::string &checkpoint) {
  std::string path = (fs::path(checkpoint) / stateFile).string();
  SafetensorsFile file(path);
  auto text = file.metadata().find("step");
  int64_t step = -1;
  if (text != file.metadata().end())
    std::from_chars(text->second.data(), text->second.data() + text->second.size(), step);
  if (step < 0)
    throw UserError(path + ": it does not say after which step it was saved");
  loadTensors(session, path, roles);
  return step;
}

} // namespace titan::rt
