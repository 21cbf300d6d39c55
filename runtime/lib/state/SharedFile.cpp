#include "SharedFile.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace titan::rt {

namespace {

constexpr int64_t stagedAlignment = 64;

int64_t align(int64_t bytes) {
  return (bytes + stagedAlignment - 1) / stagedAlignment * stagedAlignment;
}

int64_t countStoredBytes(const FileTensor &fileTensor, const FileTypes &types) {
  const DType own = fileTensor.info.dtype;
  return getByteSize(fileTensor.info) / getByteSize(own) *
         storedBytes(types.find(fileTensor.name, own)).value();
}

/// A part of a tensor that one thread copies.
struct Segment {
  std::byte *to;
  const std::byte *from;
  int64_t bytes;
};

void copySegments(std::span<const Segment> segments) {
#pragma omp parallel for schedule(dynamic, 1)
  for (size_t i = 0; i < segments.size(); ++i)
    std::memcpy(segments[i].to, segments[i].from, static_cast<size_t>(segments[i].bytes));
}

} // namespace

SharedFile::SharedFile(Executor &executor, std::string path, std::vector<FileTensor> list,
                       std::map<std::string, std::string> metadata, const FileTypes &types)
    : executor(executor), path(std::move(path)), tensors(std::move(list)),
      metadata(std::move(metadata)) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const FileTensor &tensor = tensors[i];
    specs.push_back({tensor.name, tensor.info.dtype, getShape(tensor.info),
                     types.find(tensor.name, tensor.info.dtype)});
    if (executor.isWriter(*tensor.tensor))
      own.push_back(i);
  }
}

void SharedFile::open() {
  writer.emplace(path, specs, metadata,
                 executor.isFirst() ? SafetensorsWriter::Role::Create
                                    : SafetensorsWriter::Role::Join);
}

int64_t SharedFile::stagedBytes() const {
  int64_t bytes = 0;
  for (size_t index : own)
    bytes += align(tensors[index].bytes);
  return bytes;
}

void SharedFile::stage(std::byte *memory) {
  constexpr int64_t segmentBytes = int64_t{1} << 20; // to balance threads
  staged.assign(tensors.size(), nullptr);
  std::vector<Segment> segments;
  for (size_t index : own) {
    const FileTensor &tensor = tensors[index];
    staged[index] = memory;
    if (!executor.device().isHost())
      executor.device().download(memory, tensor.data, tensor.bytes);
    else
      for (int64_t at = 0; at < tensor.bytes; at += segmentBytes)
        segments.push_back(
            {memory + at, tensor.data + at, std::min(segmentBytes, tensor.bytes - at)});
    memory += align(tensor.bytes);
  }
  copySegments(segments);
}

void SharedFile::write(size_t index) {
  if (!staged.empty())
    return writeFrom(index, staged[index]);
  const FileTensor &tensor = tensors[index];
  HostView host(executor.device(), tensor.data, tensor.bytes, HostView::Access::Read);
  writeFrom(index, host.data());
}

void SharedFile::writeFrom(size_t index, const std::byte *shard) {
  const TensorSpec &spec = specs[index];
  const int64_t size = getByteSize(spec.type), storedSize = storedBytes(spec.stored).value();
  std::vector<std::byte> converted;
  executor.getLayout(tensors[index].info).forEachRun([&](const ShardRun &run) {
    const std::span<const std::byte> values(shard + run.local * size,
                                            static_cast<size_t>(run.count * size));
    writer->write(index, run.global * storedSize, toStored(spec, values, converted));
  });
}

void SharedFile::finish() {
  writer->finish();
}

std::vector<PlannedFile> planShards(Executor &executor, const ShardFiles &files,
                                    std::span<const Role> roles) {
  const std::vector<FileTensor> tensors = listFileTensors(executor, roles);
  std::vector<int64_t> sizes;
  for (const FileTensor &tensor : tensors)
    sizes.push_back(countStoredBytes(tensor, files.types));
  const std::vector<size_t> ends = cutIntoShards(sizes, files.bytes);
  std::vector<PlannedFile> planned;
  size_t next = 0;
  for (size_t end : ends) {
    PlannedFile file{{files.name(planned.size() + 1, ends.size()), {}}, {}};
    for (; next < end; ++next) {
      const FileTensor &tensor = tensors[next];
      file.shard.tensors.push_back(
          {tensor.name, sizes[next], files.types.find(tensor.name, tensor.info.dtype)});
      file.tensors.push_back(tensor);
    }
    planned.push_back(std::move(file));
  }
  return planned;
}

} // namespace titan::rt
