// Where the processes of a run meet: a key-value store over TCP and the groups made from it. The
// header between comm/ and c10d; of its types it only declares the store, so that the transports
// over c10d alone pay for LibTorch's headers, and programs of one process not for LibTorch.
#pragma once

#include "titan/runtime/comm.h"

#include <memory>
#include <string>
#include <vector>

namespace c10d {
class Store;
} // namespace c10d

namespace titan::rt {

class Rendezvous {
public:
  virtual ~Rendezvous() = default;

  /// Loads c10d and meets the other processes. torchrun's agent serves the store itself; elsewhere
  /// rank 0 does.
  static std::unique_ptr<Rendezvous> connect(const LaunchInfo &launch, CommOptions options);

  /// A small key-value store that all processes see. `lookup` waits until the key is there.
  virtual void publish(const std::string &key, const std::string &value) = 0;
  virtual std::string lookup(const std::string &key) = 0;

  /// The same store as c10d knows it, for groups of devices; lives as long as it is held.
  virtual c10d::Store &store() = 0;

  /// A group over Gloo; all members call this.
  virtual std::unique_ptr<Group> makeGlooGroup(const std::vector<int> &ranks, int position) = 0;
};

/// The message of a failed collective.
std::string describeFailure(const Group &group, const char *operation, Site site,
                            const std::string &cause, double seconds);

} // namespace titan::rt
