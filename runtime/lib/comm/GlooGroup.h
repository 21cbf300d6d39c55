// Groups over c10d's Gloo: messages over sockets.
#pragma once

#include "Comm.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace gloo::transport {
class Device;
} // namespace gloo::transport

namespace titan::rt {

struct GlooOptions {
  std::shared_ptr<::gloo::transport::Device> device;
  std::chrono::seconds timeout, connectTimeout;
};

/// Connects the group; all members call this, with their positions. Throws what c10d throws, and
/// TimedOut.
std::unique_ptr<Group> connectGlooGroup(const c10::intrusive_ptr<c10d::Store> &store,
                                        const std::vector<int> &ranks, int position,
                                        const GlooOptions &options);

} // namespace titan::rt
