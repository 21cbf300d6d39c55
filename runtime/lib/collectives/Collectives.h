// The communication state of a Context: the mesh of the run and the groups of its axes. Emitted
// code refers to groups by mesh axes, and the ranks of each list of axes are computed once. A
// collective is synchronous, or starts on a channel and is waited for later. Asynchronous
// collectives run on a background thread, or on the transport's own queue if it has one.
#pragma once

#include "comm/Comm.h"
#include "comm/Mesh.h"
#include "titan/runtime/program.h"

#include <memory>
#include <vector>

namespace titan::rt {

class Background;
class Device;
class DeviceStaging;
struct CollectiveCall;

class Collectives {
public:
  Collectives(World &world, Mesh mesh, Device &device);
  ~Collectives();
  Collectives(const Collectives &) = delete;
  Collectives &operator=(const Collectives &) = delete;

  const Mesh &meshOf() const { return mesh; }
  World &worldOf() { return world; }
  /// The group of the ranks that differ in these axes only, ordered by the axes.
  Group &group(GroupRef axes);

  /// Allocates what the call will need; its group exists.
  void prepare(const CollectiveCall &call);
  /// Executes the call after all calls started before, or starts it on `channel`.
  void issue(const CollectiveCall &call, int channel);
  void finish(int channel);
  /// Staging memory for a caller that packs by itself. Waits until no collective is running.
  DeviceStaging &idleStaging();

private:
  struct Known {
    std::vector<int> axes;
    Group *group;
  };
  struct Channel {
    uint64_t number = 0;    ///< of the call in the background thread
    Group *group = nullptr; ///< a group with its own queue, if any
  };

  World &world;
  Mesh mesh;
  Device &device;
  std::vector<Known> known; // few entries, so a linear search is fastest
  std::unique_ptr<DeviceStaging> staging;
  std::unique_ptr<Background> background; // created on demand; destroyed before the members it uses
  std::vector<Channel> channels;
};

} // namespace titan::rt
