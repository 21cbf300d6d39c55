// What a Context carries so that emitted code can communicate: the mesh of the run and the groups
// of its axes over the World's transports. Emitted code names groups by mesh axes; the ranks are
// found here, once per list of axes. Dimension-wise collectives (a dimension that is not the
// outermost) are packed into contiguous chunks per rank and unpacked again.
#pragma once

#include "titan/runtime/comm.h"
#include "titan/runtime/mesh.h"
#include "titan/runtime/program.h"

#include <vector>

namespace titan::rt {

class Device;

class Collectives {
public:
  Collectives(World &world, Mesh mesh, Device &device)
      : world(world), mesh(std::move(mesh)), device(device) {}
  ~Collectives();
  Collectives(const Collectives &) = delete;
  Collectives &operator=(const Collectives &) = delete;

  const Mesh &meshOf() const { return mesh; }
  World &worldOf() { return world; }
  /// The group that varies in these axes, in their order.
  Group &group(GroupRef axes);

  /// Room for packing, kept between calls: two areas, because an exchange needs both.
  std::byte *packed(int64_t bytes) { return grow(first, bytes); }
  std::byte *received(int64_t bytes) { return grow(second, bytes); }
  /// Copies `rows` blocks of `bytes` that lie `fromStride` and `toStride` bytes apart.
  void copyBlocks(const std::byte *from, int64_t fromStride, std::byte *to, int64_t toStride,
                  int64_t rows, int64_t bytes);

private:
  /// A stretch of the device's memory.
  struct Area {
    std::byte *data = nullptr;
    int64_t bytes = 0;
  };
  std::byte *grow(Area &area, int64_t bytes);

  struct Known {
    std::vector<int> axes;
    Group *group;
  };

  World &world;
  Mesh mesh;
  Device &device;
  std::vector<Known> known; // few: a linear search beats a map
  Area first, second;
};

} // namespace titan::rt
