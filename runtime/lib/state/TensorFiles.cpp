#include "TensorFiles.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"
#include "random/Initialize.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace titan::rt {

namespace {

/// A tensor as files know it: a whole one, or one layer of a stacked one.
struct Piece {
  std::string name;
  TensorInfo info;
  std::byte *data; // of this rank's part, on the device
  int64_t bytes;
  const Tensor *tensor;
  int64_t layer; // 0 if not stacked
};

/// Visits the slots of a stacked tensor as they lie, row by row.
template <typename Visit>
void forEachSlot(const std::vector<std::vector<int64_t>> &levels, const Visit &visit,
                 std::vector<int64_t> iterations = {}) {
  if (iterations.size() == levels.size())
    return visit(std::span<const int64_t>(iterations));
  for (int64_t iteration : levels[iterations.size()]) {
    std::vector<int64_t> inner = iterations;
    inner.push_back(iteration);
    forEachSlot(levels, visit, std::move(inner));
  }
}

std::vector<Piece> piecesOf(Session &session, std::span<const Role> roles) {
  std::vector<Piece> pieces;
  for (const Tensor &tensor : session.program().tensors) {
    if (std::find(roles.begin(), roles.end(), tensor.role) == roles.end())
      continue;
    std::byte *data = session.dataOf(tensor);
    Session::Slots slots = session.slotsOf(tensor);
    int64_t layer = 0;
    forEachSlot(stackedIterations(tensor), [&](std::span<const int64_t> iterations) {
      pieces.push_back({layerName(tensor, iterations), slots.info, data + layer * slots.distance,
                        slots.bytes, &tensor, layer});
      ++layer;
    });
  }
  return pieces;
}

std::vector<int64_t> shapeOf(const TensorInfo &info) {
  std::vector<int64_t> shape;
  for (const Dim &dim : info.dims)
    shape.push_back(dim.size - dim.padding);
  return shape;
}

Initializer initializerOf(const Piece &piece) {
  const Tensor &tensor = *piece.tensor;
  size_t index = std::min<size_t>(piece.layer, tensor.scale.size() - 1);
  return {tensor.init, tensor.scale[index], tensor.cut};
}

int64_t bytesOf(const TensorInfo &info) {
  int64_t bytes = sizeOf(info.dtype);
  for (int64_t size : shapeOf(info))
    bytes *= size;
  return bytes;
}

/// Every rank writes its part of these tensors at its place in the file.
void writeFile(Session &session, const std::string &path, std::span<const Piece> pieces,
               const std::map<std::string, std::string> &metadata) {
  std::vector<TensorSpec> specs;
  for (const Piece &piece : pieces)
    specs.push_back({piece.name, piece.info.dtype, shapeOf(piece.info)});

  std::optional<SafetensorsWriter> writer;
  if (session.isFirst())
    writer.emplace(path, specs, metadata);
  session.barrier("creating a file of weights");
  if (!session.isFirst())
    writer.emplace(path, specs, metadata, SafetensorsWriter::Role::Join);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece &piece = pieces[i];
    Layout layout = session.layoutOf(piece.info);
    if (!layout.isWriter())
      continue;
    int64_t size = sizeOf(piece.info.dtype);
    HostView host(session.device(), piece.data, piece.bytes, HostView::Access::Read);
    layout.forEachRun([&](const Run &run) {
      writer->write(i, run.global * size,
                    {host.data() + run.local * size, static_cast<size_t>(run.count * size)});
    });
  }
  if (!session.isFirst())
    writer->finish();
  session.barrier("writing a file of weights");
  if (session.isFirst())
    writer->finish();
  session.barrier("finishing a file of weights");
}

} // namespace

void makeDirectory(const std::string &path, const char *what) {
  try {
    createDirectories(path);
  } catch (const UserError &error) {
    throw UserError(fmt::format("cannot make {} '{}': {}", what, path, error.what()));
  }
}

void initializeParameters(Session &session, uint64_t seed) {
  constexpr int64_t longest = 4096; // of a stretch, so that threads share the work evenly
  constexpr Role roles[] = {Role::Parameter};
  for (const Piece &piece : piecesOf(session, roles)) {
    std::vector<Run> work;
    session.layoutOf(piece.info).forEachRun([&](const Run &run) {
      for (int64_t at = 0; at < run.count; at += longest)
        work.push_back({run.local + at, run.global + at, std::min(longest, run.count - at)});
    });
    HostView host(session.device(), piece.data, piece.bytes, HostView::Access::ReadWrite);
    std::byte *data = host.data();
#pragma omp parallel for schedule(dynamic, 4)
    for (size_t i = 0; i < work.size(); ++i)
      initializeRange(initializerOf(piece), seed, piece.name, work[i].global, work[i].count,
                      piece.info.dtype, data + work[i].local * sizeOf(piece.info.dtype));
  }
}

void loadTensors(Session &session, const WeightStore &store, std::span<const Role> roles) {
  std::vector<Piece> pieces = piecesOf(session, roles);
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const Piece &piece : pieces)
    shapes[piece.name] = shapeOf(piece.info);
  store.expectExactly(shapes);
  for (const Piece &piece : pieces) {
    HostView host(session.device(), piece.data, piece.bytes, HostView::Access::ReadWrite);
    session.layoutOf(piece.info).forEachRun([&](const Run &run) {
      store.readRange(piece.name, run.global, run.count, piece.info.dtype,
                      host.data() + run.local * sizeOf(piece.info.dtype));
    });
    store.release();
  }
}

void saveTensors(Session &session, const std::string &path, std::span<const Role> roles,
                 const std::map<std::string, std::string> &metadata) {
  writeFile(session, path, piecesOf(session, roles), metadata);
  if (session.isFirst())
    orFault([&] { syncParent(path); });
}

std::vector<Shard> saveShards(Session &session, const std::string &directory,
                              const std::string &stem, std::span<const Role> roles,
                              int64_t shardBytes) {
  std::vector<Piece> pieces = piecesOf(session, roles);
  std::vector<int64_t> sizes;
  for (const Piece &piece : pieces)
    sizes.push_back(bytesOf(piece.info));
  std::vector<size_t> ends = cutIntoShards(sizes, shardBytes);
  std::vector<Shard> shards;
  for (size_t begin = 0, number = 1; number <= ends.size(); begin = ends[number - 1], ++number) {
    std::span<const Piece> part(pieces.data() + begin, ends[number - 1] - begin);
    Shard shard{fmt::format("{}-{:05}-of-{:05}.safetensors", stem, number, ends.size()), {}};
    for (const Piece &piece : part)
      shard.tensors.push_back({piece.name, bytesOf(piece.info)});
    writeFile(session, (std::filesystem::path(directory) / shard.file).string(), part,
              {{"format", "pt"}});
    shards.push_back(std::move(shard));
  }
  return shards;
}

} // namespace titan::rt
