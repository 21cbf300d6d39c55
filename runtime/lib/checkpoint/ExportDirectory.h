// The directory of an export. Other software loads a directory as a whole, so it has the weights of
// one export only. While an export of several files is published, there is no index, and loading
// the directory fails.
#pragma once

#include "base/weights/WeightSource.h"

#include <map>
#include <span>
#include <string>

namespace titan::rt {

class ExportDirectory {
public:
  /// Refuses a directory whose weights an export would lose or mix with its own: that of a source,
  /// that of a run, and weights that are not of an earlier export. Writes nothing. Throws UserError
  /// that names the files.
  static void check(const std::string &path, std::span<const WeightSource> sources);

  /// The metadata of exported safetensors files, by which later exports recognise them.
  static std::map<std::string, std::string> metadata();

  /// Creates the directory, and in it an empty folder for the new files.
  explicit ExportDirectory(std::string path);
  /// Removes that folder.
  ~ExportDirectory();
  ExportDirectory(const ExportDirectory &) = delete;
  ExportDirectory &operator=(const ExportDirectory &) = delete;

  /// The folder in the directory `path` to which the new files are written before they are
  /// published.
  static std::string folderIn(const std::string &path);

  /// Moves the new files to the directory, the index of weights last, and removes other weights of
  /// earlier exports. Requires that the content of the new files is synced. Throws Fault.
  void publish();

private:
  std::string path;
};

} // namespace titan::rt
