// The rendezvous over c10d's TCPStore, and what libtitan_c10d.so exports.
#include "Address.h"
#include "C10d.h"
#include "C10dModule.h"
#include "CallWithTimeout.h"
#include "Deadline.h"
#include "GlooGroup.h"
#include "Rendezvous.h"

#include "base/Error.h"

#include <c10/util/Logging.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <cstdlib>
#include <string_view>
#include <sys/resource.h>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

using std::chrono::milliseconds;
using StorePtr = c10::intrusive_ptr<c10d::Store>;

/// How much longer than a call's own limit it is waited for, so that its own words come first.
constexpr milliseconds kSlack(300);

/// The store accepts whoever connects: a few hundred strangers are not to take the descriptors that
/// the run's own files and ranks need.
void allowManyConnections() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 1 << 16);
  setrlimit(RLIMIT_NOFILE, &limit);
}

class StoreRendezvous final : public Rendezvous {
public:
  StoreRendezvous(const LaunchInfo &launch, CommOptions options)
      : launch(launch), options(options), limit(options.connectTimeout) {
    connect(Deadline(options.connectTimeout));
  }

  std::unique_ptr<Group> makeGlooGroup(const std::vector<int> &ranks, int position) override {
    try {
      if (!device)
        device = makeDevice();
      auto prefixed = c10::make_intrusive<c10d::PrefixStore>(
          fmt::format("group/{}", fmt::join(ranks, ",")), keys);
      return connectGlooGroup(prefixed, ranks, position,
                              {device, options.timeout, options.connectTimeout});
    } catch (const std::exception &error) {
      throw Fault(
          fmt::format("rank {}: cannot connect the group of ranks {{{}}} over sockets: {}; {}",
                      launch.rank, fmt::join(ranks, ", "), firstLine(error), describeDevice()));
    }
  }

  c10d::Store &store() override { return *keys; }
  milliseconds timeout() const override { return limit; }
  void setTimeout(milliseconds most) override { limit = most; }

  void publish(const std::string &key, const std::string &value) override {
    call(timeout(),
         [=, store = keys] { store->set(key, std::vector<uint8_t>(value.begin(), value.end())); });
  }

  std::string lookup(const std::string &key, milliseconds most) override {
    most = std::max(most, milliseconds(1)); // 0 would be no limit
    std::vector<uint8_t> value = call(most, [=, store = keys] {
      store->wait({key}, most);
      return store->get(key);
    });
    return {value.begin(), value.end()};
  }

  bool has(const std::string &key) override {
    return call(timeout(), [=, store = keys] { return store->check({key}); });
  }

  int64_t add(const std::string &key, int64_t amount) override {
    return call(timeout(), [=, store = keys] { return store->add(key, amount); });
  }

  std::string claim(const std::string &key, const std::string &value) override {
    std::vector<uint8_t> found = call(timeout(), [=, store = keys] {
      return store->compareSet(key, {}, std::vector<uint8_t>(value.begin(), value.end()));
    });
    return {found.begin(), found.end()};
  }

  void setKeyPrefix(const std::string &nonce) override {
    keys = c10::make_intrusive<c10d::PrefixStore>(nonce, keys);
  }

  std::string address() const override { return ownAddress; }

  void chooseAddress(const std::string &peer) override {
    if (isLoopback(ownAddress) && !peer.empty() && !isLoopback(peer))
      if (std::string better = localAddressToward(peer); !better.empty())
        ownAddress = better;
  }

private:
  bool isOneMachine() const { return launch.localWorldSize == launch.worldSize; }
  bool serves() const { return launch.rank == 0 && !launch.agentServesStore; }

  /// Where rank 0 listens; empty: at all of its machine's addresses. Where all ranks are on one
  /// machine, no other one is to reach the store.
  std::string listenAddress(const std::string &resolved) const {
    if (!isOneMachine())
      return "";
    return isLoopback(resolved) || !launch.knowsLocalSize ? resolved : "127.0.0.1";
  }

  void connect(Deadline deadline) {
    c10d::TCPStoreOptions tcp;
    tcp.port = static_cast<uint16_t>(launch.masterPort);
    tcp.isServer = serves();
    tcp.numWorkers = launch.worldSize;
    tcp.waitWorkers = false;
    std::string listens =
        launch.agentServesStore ? "" : listenAddress(resolve(launch.masterAddress, deadline));
    std::string host = listens.empty() ? launch.masterAddress : listens;
    if (serves()) {
      allowManyConnections();
      tcp.masterListenFd = listenAt(listens, launch.masterPort).release();
      if (listens.empty())
        host = "127.0.0.1"; // of all that it listens at
    } else {
      host = reach(host, launch.masterPort, deadline);
    }
    storeAddress = serves() && listens.empty() ? resolve(launch.masterAddress, deadline) : host;
    ownAddress = isOneMachine() ? "127.0.0.1" : localAddressToward(storeAddress);
    tcp.timeout = std::max(deadline.left(), milliseconds(1));
    keys = c10::make_intrusive<c10d::PrefixStore>(prefix(), openStore(host, tcp, deadline));
  }

  /// An agent keeps its store over restarts of the workers: old keys must not be met again.
  static std::string prefix() {
    const char *restart = std::getenv("TORCHELASTIC_RESTART_COUNT");
    return fmt::format("titan/{}", restart ? restart : "0");
  }

  static StorePtr openStore(const std::string &host, const c10d::TCPStoreOptions &tcp,
                            Deadline deadline) {
    try {
      return callWithTimeout(deadline.left(), [=]() -> StorePtr {
        return c10::make_intrusive<c10d::TCPStore>(host, tcp);
      });
    } catch (const TimedOut &) {
      throw TimedOut(fmt::format("{} accepts connections and does not answer: another program than "
                                 "rank 0 or torchrun listens there",
                                 host));
    }
  }

  /// Calls the store; what it throws becomes a fault that names this rank, and so does silence.
  template <typename Call> std::invoke_result_t<Call> call(milliseconds most, Call body) {
    try {
      return callWithTimeout(most + kSlack, body);
    } catch (const std::exception &error) {
      throw Fault(fmt::format("rank {}: the rendezvous at {}:{} failed: {}; did all {} processes "
                              "start, with this address?",
                              launch.rank, launch.masterAddress, launch.masterPort,
                              firstLine(error), launch.worldSize));
    }
  }

  /// GLOO_SOCKET_IFNAME chooses the network as it does for PyTorch. Processes of one machine talk
  /// over the loopback address, which works in containers whose host name resolves to nothing;
  /// others over the interface that reaches the rendezvous, whatever their host names mean.
  std::shared_ptr<::gloo::transport::Device> makeDevice() const {
    if (const char *interface = std::getenv("GLOO_SOCKET_IFNAME"))
      return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
    if (ownAddress.empty())
      return c10d::ProcessGroupGloo::createDefaultDevice();
    return c10d::ProcessGroupGloo::createDeviceForHostname(ownAddress);
  }

  std::string describeDevice() const {
    if (const char *interface = std::getenv("GLOO_SOCKET_IFNAME"))
      return fmt::format(
          "this rank listens at the interface {} (GLOO_SOCKET_IFNAME): do all others "
          "reach it?",
          interface);
    return fmt::format("this rank listens at {}{}: if the others do not reach that, set "
                       "GLOO_SOCKET_IFNAME to the network interface that they reach",
                       ownAddress.empty() ? "its host name's address" : ownAddress,
                       isLoopback(ownAddress) ? ", which its own machine alone reaches" : "");
  }

  LaunchInfo launch;
  CommOptions options;
  milliseconds limit;
  StorePtr keys;
  std::string storeAddress, ownAddress;              // as numbers
  std::shared_ptr<::gloo::transport::Device> device; // made for the first group
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
