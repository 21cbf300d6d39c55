#include "TensorFiles.h"

#include "SharedFile.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "random/Initialize.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace titan::rt {

namespace {

Initializer getInitializer(const FileTensor &fileTensor) {
  const Tensor &tensor = *fileTensor.tensor;
  size_t index = std::min<size_t>(fileTensor.layer, tensor.scale.size() - 1);
  return {tensor.init, tensor.scale[index], tensor.cut};
}

/// Every rank writes its shards of these tensors.
void writeFile(Executor &executor, SharedFile file) {
  // Ranks that write nothing would reach the barriers early, and the work of the others' devices
  // would count as a wait for the file.
  executor.device().synchronize();
  if (executor.isFirst())
    file.open();
  executor.barrier("creating a file of weights");
  if (!executor.isFirst())
    file.open();
  for (size_t index : file.written())
    file.write(index);
  if (!executor.isFirst())
    file.finish();
  executor.barrier("writing a file of weights");
  if (executor.isFirst())
    file.finish();
  executor.barrier("finishing a file of weights");
}

} // namespace

void makeDirectory(const std::string &path, const char *what) {
  try {
    createDirectories(path);
  } catch (const UserError &error) {
    throw UserError(fmt::format("cannot make {} '{}': {}", what, path, error.what()));
  }
}

void initializeParameters(Executor &executor, uint64_t seed) {
  constexpr int64_t longest = 4096; // elements per task, to balance threads
  constexpr Role roles[] = {Role::Parameter};
  for (const FileTensor &fileTensor : listFileTensors(executor, roles)) {
    if (!fileTensor.data)
      continue;
    const std::vector<ShardRun> work = listSegments(executor, fileTensor, longest);
    HostView host(executor.device(), fileTensor.data, fileTensor.bytes,
                  HostView::Access::ReadWrite);
    std::byte *data = host.data();
#pragma omp parallel for schedule(dynamic, 4)
    for (size_t i = 0; i < work.size(); ++i)
      initializeRange(getInitializer(fileTensor), seed, fileTensor.name, work[i].global,
                      work[i].count, fileTensor.info.dtype,
                      data + work[i].local * getByteSize(fileTensor.info.dtype));
  }
}

void clearState(Executor &executor) {
  constexpr Role roles[] = {Role::State};
  for (const FileTensor &fileTensor : listFileTensors(executor, roles))
    if (fileTensor.data) {
      HostView host(executor.device(), fileTensor.data, fileTensor.bytes, HostView::Access::Write);
      std::memset(host.data(), 0, static_cast<size_t>(fileTensor.bytes));
    }
}

void loadTensors(Executor &executor, const WeightStore &store, std::span<const Role> roles) {
  std::vector<FileTensor> fileTensors = listFileTensors(executor, roles);
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const FileTensor &fileTensor : fileTensors)
    shapes[fileTensor.name] = getShape(fileTensor.info);
  store.expectExactly(shapes);
  for (const FileTensor &fileTensor : fileTensors) {
    readShard(executor, fileTensor, [&](const ShardRun &run, DType type, std::byte *out) {
      store.readRange(fileTensor.name, run.global, run.count, type, out);
    });
    store.release();
  }
}

void saveTensors(Executor &executor, const std::string &path, std::span<const Role> roles,
                 const std::map<std::string, std::string> &metadata) {
  writeFile(executor, {executor, path, listFileTensors(executor, roles), metadata});
  if (executor.isFirst())
    asFault([&] { syncParent(path); });
}

std::vector<Shard> saveShards(Executor &executor, const ShardFiles &files,
                              std::span<const Role> roles) {
  std::vector<Shard> shards;
  for (PlannedFile &file : planShards(executor, files, roles)) {
    writeFile(executor,
              {executor, (std::filesystem::path(files.directory) / file.shard.file).string(),
               std::move(file.tensors), files.metadata, files.types});
    shards.push_back(std::move(file.shard));
  }
  return shards;
}

} // namespace titan::rt
