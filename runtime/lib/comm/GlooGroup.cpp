// Rendezvous and groups over c10d: all of libtitan_c10d.so, which Rendezvous::connect loads.
#include "C10d.h"
#include "C10dModule.h"
#include "PeerGroup.h"
#include "Rendezvous.h"

#include "titan/runtime/error.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/Logging.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

using WorkPtr = c10::intrusive_ptr<c10d::Work>;

/// A view of the caller's memory; nothing is owned or copied. Gloo never writes to inputs.
at::Tensor view(const void *data, int64_t bytes) {
  return at::from_blob(const_cast<void *>(data), {bytes}, at::TensorOptions(at::kByte));
}

/// Between members of a group, each known to Gloo by its position.
class GlooMessages final : public Messages {
public:
  explicit GlooMessages(c10d::ProcessGroupGloo &gloo) : gloo(gloo) {}

  void send(const std::byte *data, int64_t bytes, int member) override {
    if (bytes)
      sends.push_back(gloo.send(*tensor(data, bytes), member, kTag));
  }
  void receive(std::byte *data, int64_t bytes, int member) override {
    receives.push_back(bytes ? gloo.recv(*tensor(data, bytes), member, kTag) : nullptr);
  }
  void awaitReceived(size_t count) override {
    for (; arrived < count; ++arrived)
      await(receives[arrived]);
  }
  void awaitAll() override {
    awaitReceived(receives.size());
    for (WorkPtr &work : sends)
      await(work);
    sends.clear();
  }

private:
  /// Messages between two members keep their order, so one tag does for all.
  static constexpr int kTag = 0;

  /// As c10d takes it: a list of one.
  std::vector<at::Tensor> *tensor(const void *data, int64_t bytes) {
    argument[0] = view(data, bytes);
    return &argument;
  }
  void await(WorkPtr &work) {
    if (work)
      work->wait(gloo.getOptions()->timeout);
    work.reset();
  }

  c10d::ProcessGroupGloo &gloo;
  std::vector<at::Tensor> argument{1};
  std::vector<WorkPtr> sends, receives;
  size_t arrived = 0;
};

class GlooGroup final : public PeerGroup {
public:
  GlooGroup(std::vector<int> ranks, int position, c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo)
      : PeerGroup(std::move(ranks), position), gloo(std::move(gloo)) {}

  void allToAll(const void *input, void *output, int64_t count, DType type, Site site) override {
    if (count == 0)
      return;
    run("all_to_all", site, [&] {
      at::Tensor from = view(input, count * size() * sizeOf(type));
      at::Tensor to = view(output, count * size() * sizeOf(type));
      std::vector<int64_t> even;
      return gloo->alltoall_base(to, from, even, even);
    });
  }

  void broadcast(void *data, int64_t count, DType type, int root, Site site) override {
    if (count == 0)
      return;
    run("broadcast", site, [&] {
      std::vector<at::Tensor> tensors{view(data, count * sizeOf(type))};
      c10d::BroadcastOptions options;
      options.rootRank = root;
      return gloo->broadcast(tensors, options);
    });
  }

  void barrier(Site site) override {
    run("barrier", site, [&] { return gloo->barrier(); });
  }

protected:
  void converse(const char *operation, Site site,
                const std::function<void(Messages &)> &body) override {
    guarded(operation, site, [&] {
      GlooMessages messages(*gloo);
      body(messages);
      messages.awaitAll();
    });
  }

private:
  template <typename Start> void run(const char *operation, Site site, Start start) {
    guarded(operation, site, [&] { start()->wait(gloo->getOptions()->timeout); });
  }

  template <typename Body> void guarded(const char *operation, Site site, Body body) {
    auto begin = std::chrono::steady_clock::now();
    try {
      body();
    } catch (const std::exception &error) {
      std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
      throw Fault(describeFailure(*this, operation, site, firstLine(error), waited.count()));
    }
  }

  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;
};

class StoreRendezvous final : public Rendezvous {
public:
  StoreRendezvous(const LaunchInfo &launch, CommOptions options)
      : launch(launch), options(options) {
    c10d::TCPStoreOptions tcp;
    tcp.port = static_cast<uint16_t>(launch.masterPort);
    tcp.isServer = launch.rank == 0 && !launch.agentServesStore;
    tcp.numWorkers = launch.worldSize;
    tcp.waitWorkers = false;
    tcp.timeout = options.connectTimeout;
    // An agent keeps its store over restarts of the workers: old keys must not be met again.
    const char *restart = std::getenv("TORCHELASTIC_RESTART_COUNT");
    std::string prefix = fmt::format("titan/{}", restart ? restart : "0");
    keys = c10::make_intrusive<c10d::PrefixStore>(
        prefix, c10::make_intrusive<c10d::TCPStore>(launch.masterAddress, tcp));
    device = makeDevice();
  }

  std::unique_ptr<Group> makeGlooGroup(const std::vector<int> &ranks, int position) override {
    auto gloo = c10d::ProcessGroupGloo::Options::create(options.timeout);
    gloo->devices.push_back(device);
    gloo->threads = 1; // a step's collectives are issued one after the other
    std::string name = fmt::format("group/{}", fmt::join(ranks, ","));
    try {
      auto prefixed = c10::make_intrusive<c10d::PrefixStore>(name, keys);
      return std::make_unique<GlooGroup>(
          ranks, position,
          c10::make_intrusive<c10d::ProcessGroupGloo>(prefixed, position,
                                                      static_cast<int>(ranks.size()), gloo));
    } catch (const std::exception &error) {
      throw Fault(fmt::format("rank {}: cannot connect the group of ranks {{{}}}: {}", launch.rank,
                              fmt::join(ranks, ", "), firstLine(error)));
    }
  }

  c10d::Store &store() override { return *keys; }

  void publish(const std::string &key, const std::string &value) override {
    guarded([&] { keys->set(key, std::vector<uint8_t>(value.begin(), value.end())); });
  }

  std::string lookup(const std::string &key) override {
    std::vector<uint8_t> value;
    guarded([&] { value = keys->get(key); });
    return {value.begin(), value.end()};
  }

private:
  /// Calls the store; what it throws becomes a fault that names this rank.
  template <typename Call> void guarded(Call call) {
    try {
      call();
    } catch (const std::exception &error) {
      throw Fault(fmt::format("rank {}: the rendezvous at {}:{} failed: {}; did all {} processes "
                              "start, with this address?",
                              launch.rank, launch.masterAddress, launch.masterPort,
                              firstLine(error), launch.worldSize));
    }
  }

  /// GLOO_SOCKET_IFNAME chooses the network as it does for PyTorch. Processes of one machine talk
  /// over the loopback address, which works in containers whose host name resolves to nothing.
  std::shared_ptr<::gloo::transport::Device> makeDevice() const {
    if (const char *interface = std::getenv("GLOO_SOCKET_IFNAME"))
      return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
    if (launch.localWorldSize == launch.worldSize)
      return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
    return c10d::ProcessGroupGloo::createDefaultDevice();
  }

  LaunchInfo launch;
  CommOptions options;
  c10::intrusive_ptr<c10d::Store> keys;
  std::shared_ptr<::gloo::transport::Device> device;
};

} // namespace

Rendezvous *titanConnectC10d(const char *interface, const LaunchInfo &launch,
                             const CommOptions &options) {
  if (interface != std::string_view(TITAN_C10D_INTERFACE))
    return nullptr;
  // What fails is thrown and said by us; c10d would log it, too, with its own stack.
  if (!std::getenv("TORCH_CPP_LOG_LEVEL"))
    FLAGS_caffe2_log_level = 3; // fatal errors alone
  try {
    return new StoreRendezvous(launch, options);
  } catch (const std::exception &error) {
    throw Fault(fmt::format("rank {} of {}: cannot reach the rendezvous at {}:{}: {}", launch.rank,
                            launch.worldSize, launch.masterAddress, launch.masterPort,
                            firstLine(error)));
  }
}

} // namespace titan::rt
