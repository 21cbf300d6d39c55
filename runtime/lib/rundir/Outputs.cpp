#include "Outputs.h"

#include "base/files/DurableFile.h"

#include "base/Error.h"
#include "weights/SourceFiles.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

/// Checks that the file can be written. The run creates its directory, but no other.
void checkOutput(const std::string &path, const std::string &runDirectory) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code unknown;
  const bool isRunDirectory =
      fs::weakly_canonical(folder, unknown) == fs::weakly_canonical(runDirectory, unknown);
  if (!folder.empty() && !fs::is_directory(folder, unknown) && !isRunDirectory)
    throw UserError(
        fmt::format("cannot write '{}': there is no directory '{}'", path, folder.string()));
  checkTarget(path);
}

/// Checks that a folder can be written if it exists. Otherwise the first save would find out.
void checkFolder(const std::string &folder) {
  std::error_code ignored;
  if (fs::is_directory(folder, ignored) && ::access(folder.c_str(), W_OK | X_OK) != 0)
    throw UserError(fmt::format("cannot write to '{}': {}", folder, std::strerror(errno)));
}

/// Checks that the directory can be created or written, and that files with the run's names are
/// regular.
void checkRunDirectory(const std::string &directory) {
  std::error_code ignored;
  fs::path existing = fs::absolute(directory);
  while (!fs::exists(existing, ignored) && existing.has_relative_path())
    existing = existing.parent_path();
  if (!fs::is_directory(existing, ignored) || ::access(existing.c_str(), W_OK) != 0)
    throw UserError(fmt::format(
        "cannot make the run's directory '{}': '{}' is {}", directory, existing.string(),
        fs::is_directory(existing, ignored) ? "not to be written to" : "no directory"));
  for (const char *name :
       {"config.toml", "program.titan", "metrics.jsonl", "status.json", "weights.tsv",
        "model.safetensors", "best.safetensors", sourceConfigName})
    checkTarget((fs::path(directory) / name).string());
  for (const char *name : getTokenizerFiles())
    checkTarget((fs::path(directory) / name).string());
  for (const char *name : {"checkpoints", "replaced", "tensorboard"})
    checkFolder((fs::path(directory) / name).string());
}

} // namespace

void checkOutputs(Executor &executor, const Options &options, const std::string &runDirectory) {
  executor.world().runCollectively([&] {
    for (const std::string &path : {options.saveInitial, options.saveGradients})
      if (!path.empty())
        checkOutput(path, runDirectory);
    if (executor.isFirst())
      checkRunDirectory(runDirectory);
  });
}

} // namespace titan::rt
