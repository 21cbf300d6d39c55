#include "Archive.h"

#include "base/files/DurableFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <vector>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

bool isPresent(const fs::path &path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

void warnNotRemoved(const fs::path &path, const std::string &reason) {
  std::fprintf(stderr, "warning: cannot remove '%s': %s; the next save tries again\n", path.c_str(),
               reason.c_str());
}

/// Whether everything was removed.
bool removeTree(const fs::path &path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error)
    warnNotRemoved(path, error.message());
  return !error;
}

/// Renames first, so that no partial checkpoint has the final name.
void removeCheckpoint(const fs::path &directory) {
  fs::path doomed = directory.string() + ".removed" + temporarySuffix;
  if (std::rename(directory.c_str(), doomed.c_str()) != 0)
    warnNotRemoved(directory, std::strerror(errno));
  else
    removeTree(doomed);
}

void moveTo(const fs::path &from, const fs::path &to) {
  if (std::rename(from.c_str(), to.c_str()) != 0)
    failToWrite(to.string(), errno);
}

/// The name, or NAME.2 and so on if it exists.
fs::path findFreeName(const fs::path &name) {
  fs::path free = name;
  for (int number = 2; isPresent(free); ++number)
    free = fmt::format("{}.{}", name.string(), number);
  return free;
}

} // namespace

void removeUnfinishedCheckpoints(const std::string &runDirectory) {
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(fs::path(runDirectory) / "checkpoints", error), end;
       !error && entry != end; entry.increment(error))
    if (entry->path().extension() == temporarySuffix)
      found.push_back(entry->path());
  for (const fs::path &path : found)
    removeTree(path);
}

std::string archiveRun(const std::string &runDirectory) {
  const fs::path run(runDirectory);
  std::vector<const char *> existing;
  for (const char *name : {"checkpoints", "model.safetensors", "best.safetensors"})
    if (isPresent(run / name))
      existing.push_back(name);
  if (existing.empty())
    return "";
  if (isPresent(run / "metrics.jsonl"))
    existing.push_back("metrics.jsonl");
  const fs::path archive = run / "replaced";
  createDirectories(archive);
  for (const char *name : {"checkpoints", "model.safetensors", "best.safetensors", "metrics.jsonl"})
    fs::remove_all(archive / name);
  for (const char *name : existing)
    moveTo(run / name, archive / name);
  syncDirectory(archive);
  syncDirectory(run);
  return archive.string();
}

void archiveCheckpoint(const std::string &runDirectory, int64_t step, const std::string &why) {
  const fs::path from = getCheckpointPath(runDirectory, step);
  fs::path to = findFreeName(fs::path(runDirectory) / "replaced" / from.filename());
  try {
    createDirectories(to.parent_path());
    moveTo(from, to);
  } catch (const UserError &) { // a read-only folder cannot be moved to another parent
    to = findFreeName(from.string() + ".replaced");
    moveTo(from, to);
  }
  syncDirectory(to.parent_path());
  syncDirectory(from.parent_path());
  std::printf("moved %s, %s, to %s\n", from.c_str(), why.c_str(), to.c_str());
}

void archiveLaterCheckpoints(const std::string &runDirectory, int64_t step) {
  for (int64_t later : listSteps(runDirectory)) { // newest first
    if (later <= step)
      return;
    archiveCheckpoint(runDirectory, later, fmt::format("which comes after step-{}", step));
  }
}

void pruneCheckpoints(const std::string &runDirectory, const Retention &retention) {
  for (const std::string &old : surplusCheckpoints(runDirectory, retention))
    removeCheckpoint(old);
}

} // namespace titan::rt
