// Where the processes of a run meet: a key-value store over TCP and the groups made from it. The
// header between comm/ and c10d; of its types it only declares the store, so that the transports
// over c10d alone pay for LibTorch's headers, and programs of one process not for LibTorch.
#pragma once

#include "Comm.h"
#include "base/Error.h"

#include <chrono>
#include <cstdint>
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

  /// Loads c10d and connects to the store. torchrun's agent serves the store itself; elsewhere rank
  /// 0 does. Throws Fault once `options.connectTimeout` is over.
  static std::unique_ptr<Rendezvous> connect(const LaunchInfo &launch, CommOptions options);

  /// A key-value store that all processes see, and everybody who reaches its port: what it returns
  /// is to be checked. Calls throw Fault where the store does not answer in time.
  virtual void publish(const std::string &key, const std::string &value) = 0;
  /// Waits for the key, `limit` at most.
  virtual std::string lookup(const std::string &key, std::chrono::milliseconds limit) = 0;
  std::string lookup(const std::string &key) { return lookup(key, timeout()); }
  virtual bool has(const std::string &key) = 0;
  /// Adds to a number that starts at 0, and returns it.
  virtual int64_t add(const std::string &key, int64_t amount) = 0;
  /// Sets the key unless it has a value; returns the value that it has then.
  virtual std::string claim(const std::string &key, const std::string &value) = 0;
  /// From now on, all keys are those of this run alone.
  virtual void setKeyPrefix(const std::string &nonce) = 0;
  /// How long calls wait for the store, and `lookup` for a key, unless told otherwise.
  virtual std::chrono::milliseconds timeout() const = 0;
  virtual void setTimeout(std::chrono::milliseconds limit) = 0;

  /// Other processes reach this one at the first address. It is chosen again once another process's
  /// address is known, where this one has none that they reach.
  virtual std::string address() const = 0;
  virtual void chooseAddress(const std::string &peer) = 0;

  /// The same store as c10d knows it, for groups of devices; lives as long as it is held.
  virtual c10d::Store &store() = 0;

  /// A group over Gloo; all members call this.
  virtual std::unique_ptr<Group> makeGlooGroup(const std::vector<int> &ranks, int position) = 0;
};

/// The name of the interface between a program and libtitan_c10d.so, which changes with its
/// headers.
const char *interfaceOfC10d();

/// Of a collective that failed after so many seconds. `peer` is who did not do its part.
Fault failureOf(const Group &group, const char *operation, Site site, const std::string &cause,
                double seconds, Fault::Peer peer = {});

} // namespace titan::rt
