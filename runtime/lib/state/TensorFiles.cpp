#include "TensorFiles.h"

#include "FileTensors.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "random/Initialize.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace titan::rt {

namespace {

Initializer getInitializer(const FileTensor &fileTensor) {
  const Tensor &tensor = *fileTensor.tensor;
  size_t index = std::min<size_t>(fileTensor.layer, tensor.scale.size() - 1);
  return {tensor.init, tensor.scale[index], tensor.cut};
}

int64_t countStoredBytes(const FileTensor &fileTensor, const FileTypes &types) {
  const DType own = fileTensor.info.dtype;
  return getByteSize(fileTensor.info) / getByteSize(own) *
         storedBytes(types.find(fileTensor.name, own)).value();
}

/// Every rank writes its shards of these tensors.
void writeFile(Executor &executor, const std::string &path, std::span<const FileTensor> fileTensors,
               const std::map<std::string, std::string> &metadata, const FileTypes &types = {}) {
  std::vector<TensorSpec> specs;
  for (const FileTensor &fileTensor : fileTensors)
    specs.push_back({fileTensor.name, fileTensor.info.dtype, getShape(fileTensor.info),
                     types.find(fileTensor.name, fileTensor.info.dtype)});

  // Ranks that write nothing would reach the barriers early, and the work of the others' devices
  // would count as a wait for the file.
  executor.device().synchronize();
  std::optional<SafetensorsWriter> writer;
  if (executor.isFirst())
    writer.emplace(path, specs, metadata);
  executor.barrier("creating a file of weights");
  if (!executor.isFirst())
    writer.emplace(path, specs, metadata, SafetensorsWriter::Role::Join);
  std::vector<std::byte> converted;
  for (size_t i = 0; i < fileTensors.size(); ++i) {
    const FileTensor &fileTensor = fileTensors[i];
    if (!executor.isWriter(*fileTensor.tensor))
      continue;
    const int64_t size = getByteSize(fileTensor.info.dtype);
    const int64_t storedSize = storedBytes(specs[i].stored).value();
    HostView host(executor.device(), fileTensor.data, fileTensor.bytes, HostView::Access::Read);
    executor.getLayout(fileTensor.info).forEachRun([&](const ShardRun &run) {
      const std::span<const std::byte> values(host.data() + run.local * size,
                                              static_cast<size_t>(run.count * size));
      writer->write(i, run.global * storedSize, toStored(specs[i], values, converted));
    });
  }
  if (!executor.isFirst())
    writer->finish();
  executor.barrier("writing a file of weights");
  if (executor.isFirst())
    writer->finish();
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
  writeFile(executor, path, listFileTensors(executor, roles), metadata);
  if (executor.isFirst())
    asFault([&] { syncParent(path); });
}

std::vector<Shard> saveShards(Executor &executor, const ShardFiles &files,
                              std::span<const Role> roles) {
  std::vector<FileTensor> fileTensors = listFileTensors(executor, roles);
  std::vector<int64_t> sizes;
  for (const FileTensor &fileTensor : fileTensors)
    sizes.push_back(countStoredBytes(fileTensor, files.types));
  std::vector<size_t> ends = cutIntoShards(sizes, files.bytes);
  std::vector<Shard> shards;
  for (size_t begin = 0, number = 1; number <= ends.size(); begin = ends[number - 1], ++number) {
    std::span<const FileTensor> shardTensors(fileTensors.data() + begin, ends[number - 1] - begin);
    Shard shard{files.name(number, ends.size()), {}};
    for (const FileTensor &fileTensor : shardTensors)
      shard.tensors.push_back({fileTensor.name, countStoredBytes(fileTensor, files.types),
                               files.types.find(fileTensor.name, fileTensor.info.dtype)});
    writeFile(executor, (std::filesystem::path(files.directory) / shard.file).string(),
              shardTensors, files.metadata, files.types);
    shards.push_back(std::move(shard));
  }
  return shards;
}

} // namespace titan::rt
