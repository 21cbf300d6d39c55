// The directory of an export. Other software loads a directory as a whole, so it has the files of
// one export only. While an export is published, the directory has no complete weights, and loading
// it fails: a crash in this moment is loud.
#pragma once

#include "rundir/DirectoryLock.h"

#include "base/weights/WeightSource.h"

#include <map>
#include <span>
#include <string>

namespace titan::rt {

class ExportDirectory {
public:
  /// Refuses a directory whose files an export would lose or mix with its own: that of a source,
  /// that of a run, weights that are not of an earlier export, other files with the names of an
  /// export's, and names that no file can replace. Writes nothing. Throws UserError that names the
  /// files.
  static void check(const std::string &path, std::span<const WeightSource> sources);

  /// The metadata of exported safetensors files, by which later exports recognise them.
  static std::map<std::string, std::string> metadata();

  /// Creates the directory, locks it and checks it again, and creates in it an empty folder for the
  /// new files. Throws UserError if another export has the lock.
  ExportDirectory(std::string path, std::span<const WeightSource> sources);
  /// Removes that folder.
  ~ExportDirectory();
  ExportDirectory(const ExportDirectory &) = delete;
  ExportDirectory &operator=(const ExportDirectory &) = delete;

  /// The folder in the directory `path` to which the new files are written before they are
  /// published. Only the holder of the lock uses it.
  static std::string folderIn(const std::string &path);

  /// Moves the new files to the directory: removes the weights of earlier exports first, and brings
  /// the new weights last. Then looks whether all files are there. Requires that the content of the
  /// new files is synced. Throws Fault.
  void publish();

private:
  std::string path;
  DirectoryLock lock;
};

} // namespace titan::rt
