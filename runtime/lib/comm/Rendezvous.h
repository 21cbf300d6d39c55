// Where the processes of a run meet: a key-value store over TCP and the groups made from it. The
// only header between comm/ and c10d; it names no c10d type, so that one translation unit alone
// pays for LibTorch's headers.
#pragma once

#include "titan/runtime/comm.h"

#include <memory>
#include <string>
#include <vector>

namespace titan::rt {

class Rendezvous {
public:
  virtual ~Rendezvous() = default;

  /// Meets the other processes. torchrun's agent serves the store itself; elsewhere rank 0 does.
  static std::unique_ptr<Rendezvous> connect(const LaunchInfo &launch, CommOptions options);

  /// A small key-value store that all processes see. `lookup` waits until the key is there.
  virtual void publish(const std::string &key, const std::string &value) = 0;
  virtual std::string lookup(const std::string &key) = 0;

  /// A group over Gloo; all members call this.
  virtual std::unique_ptr<Group> makeGlooGroup(const std::vector<int> &ranks, int position) = 0;
};

/// The message of a failed collective.
std::string describeFailure(const Group &group, const char *operation, Site site,
                            const std::string &cause, double seconds);

} // namespace titan::rt
