// What a Context carries so that emitted code can communicate: the mesh of the run and the groups
// of its axes over the World's transports. Emitted code names groups by mesh axes; the ranks are
// found here, once per list of axes. An exchange happens at once, or is started on a channel and
// waited for later: by a thread of ours where the transport needs the processor, else by the
// transport's own queue.
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
  /// The group that varies in these axes, in their order.
  Group &group(GroupRef axes);

  /// Makes what the exchange will need: its group is there already.
  void prepare(const CollectiveCall &call);
  /// Carries out the exchange behind all that were started, or starts it on `channel`.
  void issue(const CollectiveCall &call, int channel);
  void finish(int channel);
  /// For an exchange that does its own packing; nothing else is under way then.
  DeviceStaging &idleStaging();

private:
  struct Known {
    std::vector<int> axes;
    Group *group;
  };
  struct Channel {
    uint64_t number = 0;    ///< in the background
    Group *group = nullptr; ///< that queues by itself
  };

  World &world;
  Mesh mesh;
  Device &device;
  std::vector<Known> known; // few: a linear search beats a map
  std::unique_ptr<DeviceStaging> staging;
  std::unique_ptr<Background> background; // after what it uses; made when first needed
  std::vector<Channel> channels;
};

} // namespace titan::rt
