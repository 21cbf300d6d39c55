#include "DistributedExport.h"

#include "Checkpoint.h"
#include "Export.h"
#include "ExportDirectory.h"
#include "interchange/DistributedCheckpointWriter.h"
#include "rundir/DirectoryLock.h"
#include "state/TensorFiles.h"
#include "weights/WeightTable.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "base/files/Safetensors.h"
#include "base/text/Counted.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

/// The files of an earlier checkpoint in the directory. Refuses a directory with others.
std::vector<std::string> listEarlier(const std::string &directory) {
  const std::string own = fs::path(ExportDirectory::folderIn(directory)).filename().string();
  std::vector<std::string> earlier, others;
  std::error_code absent;
  for (const auto &entry : fs::directory_iterator(directory, absent)) {
    const std::string name = entry.path().filename().string();
    if (DistributedCheckpointWriter::isFile(name))
      earlier.push_back(name);
    else if (name != own && name != ".lock")
      others.push_back(name);
  }
  if (!others.empty())
    throw UserError(fmt::format("'{}' has files that are not of a checkpoint of PyTorch: {}. Pass "
                                "another directory",
                                directory, listSome(others)));
  return earlier;
}

/// The directory while the first rank writes it, with a folder for safetensors files in it.
class Target {
public:
  explicit Target(const std::string &path)
      : path(path), lock(make(path), {"export", "--dcp DIR"}),
        folder(ExportDirectory::folderIn(path)) {
    // Without its metadata, the earlier checkpoint is none.
    const std::vector<std::string> earlier = listEarlier(path);
    std::error_code error;
    fs::remove(fs::path(path) / ".metadata", error);
    syncDirectory(path);
    for (const std::string &name : earlier)
      fs::remove(fs::path(path) / name, error);
    fs::remove_all(folder, error); // of an export that was killed
    makeDirectory(folder, "a folder of an export");
  }
  ~Target() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    lock.removeFile();
  }
  Target(const Target &) = delete;
  Target &operator=(const Target &) = delete;

private:
  static const std::string &make(const std::string &path) {
    makeDirectory(path, "the directory of an export");
    return path;
  }

  std::string path;
  DirectoryLock lock;
  std::string folder;
};

/// Writes the tensors of these files as a checkpoint.
void convert(const std::vector<Shard> &shards, const std::string &folder,
             const std::string &directory) {
  DistributedCheckpointWriter writer(directory);
  for (const Shard &shard : shards) {
    const SafetensorsFile file((fs::path(folder) / shard.file).string());
    for (const auto &[name, tensor] : file.tensors()) {
      writer.add(name, tensor.dtype, tensor.shape, tensor.bytes);
      file.release();
    }
  }
  writer.finish();
}

} // namespace

int exportDistributed(Executor &executor, const Options &options, const Settings &settings) {
  const std::string &directory = options.distributedDirectory;
  executor.world().runCollectively([&] {
    if (options.initFrom.empty())
      throw UserError("export needs weights: pass --init-from DIR or FILE.safetensors");
    if (executor.isFirst())
      listEarlier(directory);
  });
  const LoadedWeights loaded = loadTrainedWeights(executor, options, settings);
  if (options.dryRun)
    return 0;
  std::unique_ptr<Target> target;
  executor.world().runCollectively([&] {
    if (executor.isFirst())
      target = std::make_unique<Target>(directory);
  });
  const std::string folder = ExportDirectory::folderIn(directory);
  const std::vector<Shard> shards =
      saveExportedWeights(executor, options, settings, loaded, folder);
  if (target) {
    asFault([&] { convert(shards, folder, directory); });
    size_t tensors = 0;
    for (const Shard &shard : shards)
      tensors += shard.tensors.size();
    target.reset();
    std::printf("wrote %s for torch.distributed.checkpoint to %s\n",
                counted(static_cast<int64_t>(tensors), "tensor").c_str(), directory.c_str());
  }
  executor.barrier("writing an export");
  return 0;
}

} // namespace titan::rt
