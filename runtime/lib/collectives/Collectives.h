// The communication state of a Context: the mesh of the run and the groups of its axes. Emitted
// code refers to groups by mesh axes, and the ranks of each list of axes are computed once. A
// collective is synchronous, or starts on a channel and is waited for later. Asynchronous
// collectives run on the lane of their group (LaneThread.h), or on the transport's own queue if it
// has one. A synchronous collective first waits for the calls of its group that have started.
//
// A message is a permutation of the group {sender, receiver}. The two directions between two ranks
// are thus two groups with two lanes. A message ends when the receiver has reached it too.
#pragma once

#include "base/layout/Mesh.h"
#include "comm/Comm.h"
#include "titan/runtime/program.h"

#include <memory>
#include <vector>

namespace titan::rt {

class LaneThread;
class Device;
class DeviceStaging;
class Traffic;
struct CollectiveCall;

class Collectives {
public:
  Collectives(World &world, Mesh mesh, Device &device);
  /// Ends the groups of lanes that still communicate, after a failure.
  ~Collectives();
  Collectives(const Collectives &) = delete;
  Collectives &operator=(const Collectives &) = delete;

  const Mesh &getMesh() const { return mesh; }
  World &getWorld() { return world; }
  /// The group of the ranks that differ in these axes only, ordered by the axes.
  Group &group(GroupRef axes);
  /// Connects the groups of the messages that a program sends. All ranks call this with the same
  /// routes: a group that its first message created would wait for a rank that waits for another.
  void connect(const std::vector<MessageRoute> &routes);
  /// The group of the message from or to this rank on a route; null if there is no partner.
  Group *link(GroupRef axes, int offset, bool isSender);

  /// Allocates what the call will need; its group exists.
  void prepare(const CollectiveCall &call);
  /// Executes the call after the started calls of its group, or starts it on `channel`.
  void issue(const CollectiveCall &call, int channel);
  /// Waits for the last call started on the channel.
  void finish(int channel);

  /// Where calls are counted from now on; null: nowhere.
  void setTraffic(Traffic *counter) { traffic = counter; }
  Traffic *getTraffic() const { return traffic; }
  /// The time for which the program's thread waited for calls so far. On devices, calls are only
  /// queued.
  double waitedSeconds() const { return waited; }
  /// The bytes of the memory in which calls were packed so far.
  int64_t packingBytes() const;

private:
  /// A group that group() has returned, by its axes.
  struct AxesGroup {
    std::vector<int> axes;
    Group *group;
  };
  /// The groups of a route between this rank and its partners; null if it has none.
  struct Link {
    MessageRoute route;
    Group *toTarget = nullptr, *fromSource = nullptr;
  };
  /// The thread of a group and its packing buffers, which threads cannot share.
  struct Lane {
    Group *group;
    std::unique_ptr<DeviceStaging> staging;
    std::unique_ptr<LaneThread> thread;
  };
  struct Channel {
    LaneThread *lane = nullptr; ///< the thread of the call, or
    Group *group = nullptr;     ///< a group with its own queue
    uint64_t number = 0;        ///< of the call in its lane
  };

  /// The device's group of these ranks.
  Group &getGroup(const std::vector<int> &ranks);
  /// The thread of a group; null if it has none yet.
  LaneThread *findLane(const Group &group) const;
  LaneThread &getOrCreateLane(Group &group);

  World &world;
  Mesh mesh;
  Device &device;
  // Few entries, so a linear search is fastest.
  std::vector<AxesGroup> axesGroups;
  std::vector<Link> links;
  std::unique_ptr<DeviceStaging> staging; // of the program's own thread
  std::vector<Lane> lanes;                // created on demand
  std::vector<Channel> channels;
  Traffic *traffic = nullptr;
  double waited = 0;
};

} // namespace titan::rt
