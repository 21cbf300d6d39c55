// What a Context carries so that emitted code can communicate: the mesh of the run and the groups
// of its axes over the World's transports. Emitted code names groups by mesh axes; the ranks are
// found here, once per list of axes. Dimension-wise collectives (a dimension that is not the
// outermost) are packed into contiguous chunks per rank and unpacked again.
#pragma once

#include "titan/runtime/comm.h"
#include "titan/runtime/mesh.h"
#include "titan/runtime/program.h"

#include <functional>
#include <vector>

namespace titan::rt {

class Collectives {
public:
  /// How a group is found from its ranks: by the host's transports, or by a device's.
  using FindGroup = std::function<Group &(const std::vector<int> &)>;
  Collectives(World &world, Mesh mesh, FindGroup findGroup)
      : world(world), mesh(std::move(mesh)), findGroup(std::move(findGroup)) {}

  const Mesh &meshOf() const { return mesh; }
  World &worldOf() { return world; }
  /// The group that varies in these axes, in their order.
  Group &group(GroupRef axes);

  /// Room for packing, kept between calls: two areas, because an exchange needs both.
  void *packed(size_t bytes) { return grow(first, bytes); }
  void *received(size_t bytes) { return grow(second, bytes); }

private:
  static void *grow(std::vector<std::byte> &area, size_t bytes) {
    if (area.size() < bytes)
      area.resize(bytes);
    return area.data();
  }

  struct Known {
    std::vector<int> axes;
    Group *group;
  };

  World &world;
  Mesh mesh;
  FindGroup findGroup;
  std::vector<Known> known; // few: a linear search beats a map
  std::vector<std::byte> first, second;
};

} // namespace titan::rt
