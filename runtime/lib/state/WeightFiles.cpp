#include "WeightFiles.h"

#include "FileTensors.h"

#include "weights/AdapterConfig.h"

#include "base/Error.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace titan::rt {

namespace {

constexpr Role parameterRole[] = {Role::Parameter};

/// The elements of one parameter in a stored tensor.
struct Contribution {
  const FileTensor *from;
  const StoredParameter *stored;
  int64_t tensor; ///< index among the stored tensors that contain `from`
};

/// A stored tensor to be written, with elements of one or several parameters.
struct TargetTensor {
  TensorSpec spec;
  std::vector<Contribution> contributions;

  int64_t countElements() const {
    int64_t count = 1;
    for (int64_t size : spec.shape)
      count *= size;
    return count;
  }
  /// In the program's type.
  int64_t countBytes() const { return countElements() * getByteSize(spec.type); }
  int64_t countStoredBytes() const { return countElements() * storedBytes(spec.stored).value(); }
};

/// Whether exported files have no tensor of the parameter.
bool isMerged(const WeightMap &map, const std::string &parameter) {
  return std::find(map.merged.begin(), map.merged.end(), parameter) != map.merged.end();
}

bool hasEntry(const WeightMap &map, const std::string &parameter) {
  return std::any_of(map.parameters.begin(), map.parameters.end(),
                     [&](const StoredParameter &each) { return each.parameter == parameter; });
}

/// Whether the parameter adapts another one, whose name is the beginning of its own.
bool isAdapter(const std::vector<FileTensor> &all, const std::string &parameter) {
  return std::any_of(all.begin(), all.end(), [&](const FileTensor &other) {
    return parameter.starts_with(other.tensor->name + ".");
  });
}

/// The stored tensors of all parameters, in the order of the parameters.
std::vector<TargetTensor> findTargets(const WeightMap &map,
                                      const std::vector<FileTensor> &fileTensors,
                                      const FileTypes &types, Mapped which) {
  std::map<std::string, const StoredParameter *> byParameter;
  for (const StoredParameter &stored : map.parameters)
    byParameter.try_emplace(stored.parameter, &stored);
  std::vector<TargetTensor> targets;
  std::map<std::string, size_t> byName;
  for (const FileTensor &fileTensor : fileTensors) {
    const auto found = byParameter.find(fileTensor.tensor->name);
    const std::string &name = fileTensor.tensor->name;
    const bool isWanted = which == Mapped::Adapters
                              ? isMerged(map, name) && isAdapter(fileTensors, name)
                              : !isMerged(map, name);
    if (!isWanted)
      continue;
    if (found == byParameter.end())
      throw UserError(fmt::format("the weights \"{}\" of the program have no entry for {}",
                                  map.format, fileTensor.tensor->name));
    const StoredParameter &stored = *found->second;
    const int64_t count = StridedLayout(stored).countTensors();
    for (int64_t tensor = 0; tensor < count; ++tensor) {
      const std::string name = makeTensorName(stored, fileTensor.iterations, tensor);
      auto [known, isNew] = byName.try_emplace(name, targets.size());
      if (isNew)
        targets.push_back(
            {{name, fileTensor.info.dtype, stored.shape, types.find(name, fileTensor.info.dtype)},
             {}});
      targets[known->second].contributions.push_back({&fileTensor, &stored, tensor});
    }
  }
  return targets;
}

/// Copies a block from the shard `from` to the stored tensor. `size`: bytes of an element.
void copyBlock(const StridedBlock &block, const std::byte *from, std::byte *stored, int64_t size) {
  from += block.local * size;
  stored += block.stored * size;
  if (block.localStride == 1 && block.storedStride == 1) {
    std::memcpy(stored, from, static_cast<size_t>(block.count * size));
    return;
  }
  constexpr int64_t rowsAtOnce = 32; // source and destination fit the cache
  for (int64_t row = 0; row < block.count; row += rowsAtOnce)
    for (size_t j = 0; j < block.columns.size(); ++j)
      for (int64_t i = row; i < std::min(block.count, row + rowsAtOnce); ++i)
        std::memcpy(stored + (block.columns[j] + i * block.storedStride) * size,
                    from + (static_cast<int64_t>(j) + i * block.localStride) * size,
                    static_cast<size_t>(size));
}

/// Copies this rank's elements of the parameter to their offsets in `bytes`, the stored tensor.
void copyShard(Executor &executor, const Contribution &contribution, std::byte *bytes) {
  const FileTensor &from = *contribution.from;
  if (!executor.isWriter(*from.tensor))
    return;
  const int64_t size = getByteSize(from.info.dtype);
  const StridedLayout layout(*contribution.stored);
  const auto [begin, end] = layout.getElementRange(contribution.tensor);
  HostView host(executor.device(), from.data, from.bytes, HostView::Access::Read);
  executor.getLayout(from.info).forEachRun([&](const ShardRun &run) {
    const int64_t first = std::max(run.global, begin);
    const int64_t last = std::min(run.global + run.count, end);
    if (first >= last)
      return;
    const ElementRows row{
        .first = first, .columns = last - first, .local = run.local + first - run.global};
    layout.forEachBlock(row, [&](const StridedBlock &block) {
      if (block.tensor == contribution.tensor)
        copyBlock(block, host.data(), bytes, size);
    });
  });
}

/// Collects the complete tensor on the first rank. Exactly one rank has each byte, and all others
/// have 0, so an integer sum over the ranks is the tensor.
void collect(Executor &executor, const TargetTensor &target, std::vector<int64_t> &words) {
  words.assign(static_cast<size_t>((target.countBytes() + 7) / 8), 0);
  for (const Contribution &contribution : target.contributions)
    copyShard(executor, contribution, reinterpret_cast<std::byte *>(words.data()));
  if (executor.world().size() > 1)
    executor.world().worldGroup().allReduce(words.data(), std::ssize(words), DType::I64,
                                            Reduction::Sum, {"collecting weights", ""});
}

/// Collects the tensors one after another on the first rank, which writes them to a file.
/// Collective.
void writeTargets(Executor &executor, const std::string &path,
                  std::span<const TargetTensor> targets,
                  const std::map<std::string, std::string> &metadata) {
  std::vector<TensorSpec> specs;
  for (const TargetTensor &target : targets)
    specs.push_back(target.spec);
  std::optional<SafetensorsWriter> writer;
  if (executor.isFirst())
    writer.emplace(path, specs, metadata);
  std::vector<int64_t> words;
  std::vector<std::byte> converted;
  for (size_t i = 0; i < targets.size(); ++i) {
    collect(executor, targets[i], words);
    if (writer)
      writer->write(i, 0,
                    toStored(specs[i],
                             {reinterpret_cast<const std::byte *>(words.data()),
                              static_cast<size_t>(targets[i].countBytes())},
                             converted));
  }
  if (writer)
    writer->finish();
  executor.barrier("writing a file of weights");
}

/// The elements of this rank's shard as matrices: consecutive runs of equal length and distance are
/// the rows of one.
std::vector<ElementRows> getElementRows(Executor &executor, const FileTensor &fileTensor) {
  std::vector<ElementRows> all;
  executor.getLayout(fileTensor.info).forEachRun([&](const ShardRun &run) {
    if (!all.empty() && all.back().columns == run.count) {
      ElementRows &rows = all.back();
      const int64_t pitch = run.global - (rows.first + (rows.rows - 1) * rows.pitch);
      const int64_t localPitch = run.local - (rows.local + (rows.rows - 1) * rows.localPitch);
      if (rows.rows == 1 || (pitch == rows.pitch && localPitch == rows.localPitch)) {
        rows.pitch = pitch;
        rows.localPitch = localPitch;
        ++rows.rows;
        return;
      }
    }
    all.push_back({.first = run.global, .columns = run.count, .local = run.local});
  });
  return all;
}

/// The weights that the program needs, in the order of listFileTensors.
std::vector<NeededWeights> listNeeded(const Program &program) {
  std::vector<NeededWeights> needed;
  for (const Tensor &tensor : program.tensors) {
    if (tensor.role != Role::Parameter)
      continue;
    const TensorInfo info = layerInfo(tensor.info, stackedIterations(tensor).size());
    for (const std::vector<int64_t> &iterations : listSlots(tensor))
      needed.push_back(
          {layerName(tensor, iterations), tensor.name, iterations, getShape(info), info.dtype,
           tensor.initFrom == InitFrom::Optional ||
               (isMerged(program.weights, tensor.name) && !hasEntry(program.weights, tensor.name)),
           tensor.initFrom == InitFrom::Partial});
  }
  return needed;
}

} // namespace

void checkStartingWeights(const Program &program, std::span<const WeightSource> sources) {
  std::vector<WeightStore> stores;
  for (const WeightSource &source : sources) {
    checkAdapterConfig(program.config, source.path);
    stores.emplace_back(source.path);
  }
  StartingWeights(program.weights, sources, stores).match(listNeeded(program));
}

ReadWeights loadStartingWeights(Executor &executor, std::span<const WeightSource> sources,
                                std::span<const WeightStore> stores) {
  for (const WeightSource &source : sources)
    checkAdapterConfig(executor.program().config, source.path);
  const std::vector<FileTensor> fileTensors = listFileTensors(executor, parameterRole);
  StartingWeights weights(executor.program().weights, sources, stores);
  weights.match(listNeeded(executor.program()));
  for (size_t i = 0; i < fileTensors.size(); ++i) {
    const FileTensor &each = fileTensors[i];
    if (weights.has(i) && each.data) {
      HostView host(executor.device(), each.data, each.bytes, HostView::Access::ReadWrite);
      weights.read(i, getElementRows(executor, each), host.data());
    }
    weights.release();
  }
  return {weights.rows(), weights.storedTypes()};
}

std::vector<Shard> saveMapped(Executor &executor, const ShardFiles &files, Mapped which) {
  const std::vector<FileTensor> fileTensors = listFileTensors(executor, parameterRole);
  const std::vector<TargetTensor> targets =
      findTargets(executor.program().weights, fileTensors, files.types, which);
  std::vector<int64_t> sizes;
  for (const TargetTensor &target : targets)
    sizes.push_back(target.countStoredBytes());
  const std::vector<size_t> ends = cutIntoShards(sizes, files.bytes);
  std::vector<Shard> shards;
  for (size_t begin = 0, number = 1; number <= ends.size(); begin = ends[number - 1], ++number) {
    std::span<const TargetTensor> inFile(targets.data() + begin, ends[number - 1] - begin);
    Shard shard{files.name(number, ends.size()), {}};
    for (const TargetTensor &target : inFile)
      shard.tensors.push_back({target.spec.name, target.countStoredBytes(), target.spec.stored});
    writeTargets(executor, (std::filesystem::path(files.directory) / shard.file).string(), inFile,
                 files.metadata);
    shards.push_back(std::move(shard));
  }
  return shards;
}

} // namespace titan::rt
