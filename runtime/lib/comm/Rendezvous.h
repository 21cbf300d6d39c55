// The rendezvous of a run's processes: a key-value store over TCP, and the groups made from it.
// This header separates comm/ from c10d and only declares c10d's store. Thus only transports over
// c10d include LibTorch's headers, and programs of one process do not load LibTorch.
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

  /// Loads c10d and connects to the store. torchrun's agent or rank 0 serves it. Throws Fault after
  /// `options.connectTimeout`.
  static std::unique_ptr<Rendezvous> connect(const LaunchInfo &launch, CommOptions options);

  /// A key-value store for all processes of the run. Anyone who reaches its port can write to it,
  /// so values must be validated. Calls throw Fault if the store does not answer in time.
  virtual void publish(const std::string &key, const std::string &value) = 0;
  /// Waits for the key up to `limit`.
  virtual std::string lookup(const std::string &key, std::chrono::milliseconds limit) = 0;
  std::string lookup(const std::string &key) { return lookup(key, timeout()); }
  virtual bool has(const std::string &key) = 0;
  /// Adds to a counter that starts at 0, and returns its new value.
  virtual int64_t add(const std::string &key, int64_t amount) = 0;
  /// Sets the key if it has no value. Returns the key's value afterwards.
  virtual std::string claim(const std::string &key, const std::string &value) = 0;
  /// Prefixes all later keys with the run's nonce.
  virtual void setKeyPrefix(const std::string &nonce) = 0;
  /// The default timeout of calls and of `lookup`.
  virtual std::chrono::milliseconds timeout() const = 0;
  virtual void setTimeout(std::chrono::milliseconds limit) = 0;

  /// The address at which other processes reach this one. chooseAddress selects the interface
  /// toward the address of another process, if this process has no reachable address yet.
  virtual std::string address() const = 0;
  virtual void chooseAddress(const std::string &peer) = 0;

  /// The store as a c10d object, for groups of devices. It lives as long as it is referenced.
  virtual c10d::Store &store() = 0;

  /// A group over Gloo. All members call this.
  virtual std::unique_ptr<Group> makeGlooGroup(const std::vector<int> &ranks, int position) = 0;
};

/// The checksum of the interface between a program and libtitan_c10d.so (C10dModule.h).
const char *findC10dInterface();

/// The Fault of a collective that failed after `seconds`. `peer` is the member that caused it.
Fault makeFailure(const Group &group, const char *operation, Site site, const std::string &cause,
                  double seconds, Fault::Peer peer = {});

} // namespace titan::rt
