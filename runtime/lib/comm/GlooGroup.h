// Groups over c10d's Gloo, which sends messages over sockets.
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

/// Connects the group. All members call this with their positions. Throws c10d's exceptions and
/// TimedOut.
std::unique_ptr<Group> connectGlooGroup(const c10::intrusive_ptr<c10d::Store> &store,
                                        const std::vector<int> &ranks, int position,
                                        const GlooOptions &options);

} // namespace titan::rt
