// The rendezvous over c10d's TCPStore, and the entry point of libtitan_c10d.so.
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

/// Additional time beyond a call's own timeout, so that the call's own error is reported first.
constexpr milliseconds kSlack(300);

/// The store accepts any connection. A higher limit keeps a few hundred unrelated connections from
/// exhausting the descriptors that the run needs.
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
    most = std::max(most, milliseconds(1)); // 0 would mean no timeout
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
  /// Whether this rank serves the store.
  bool isServer() const { return launch.rank == 0 && !launch.agentServesStore; }

  /// The address at which rank 0 listens; empty for all addresses of its machine. If all ranks are
  /// on one machine, other machines must not reach the store.
  std::string chooseListenAddress(const std::string &resolved) const {
    if (!isOneMachine())
      return "";
    return isLoopback(resolved) || !launch.knowsLocalSize ? resolved : "127.0.0.1";
  }

  void connect(Deadline deadline) {
    c10d::TCPStoreOptions tcp;
    tcp.port = static_cast<uint16_t>(launch.masterPort);
    tcp.isServer = isServer();
    tcp.numWorkers = launch.worldSize;
    tcp.waitWorkers = false;
    const std::string listenAddress =
        launch.agentServesStore ? "" : chooseListenAddress(resolve(launch.masterAddress, deadline));
    std::string host = listenAddress.empty() ? launch.masterAddress : listenAddress;
    if (isServer()) {
      allowManyConnections();
      tcp.masterListenFd = listenAt(listenAddress, launch.masterPort).release();
      if (listenAddress.empty())
        host = "127.0.0.1"; // one of the addresses at which it listens
    } else {
      host = reach(host, launch.masterPort, deadline);
    }
    storeAddress =
        isServer() && listenAddress.empty() ? resolve(launch.masterAddress, deadline) : host;
    ownAddress = isOneMachine() ? "127.0.0.1" : localAddressToward(storeAddress);
    tcp.timeout = std::max(deadline.left(), milliseconds(1));
    keys = c10::make_intrusive<c10d::PrefixStore>(getKeyPrefix(), openStore(host, tcp, deadline));
  }

  /// An agent keeps its store when it restarts the workers, so the prefix hides keys of earlier
  /// starts.
  static std::string getKeyPrefix() {
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
      throw TimedOut(fmt::format("{} accepts connections but does not answer: a program other than "
                                 "rank 0 or torchrun listens there",
                                 host));
    }
  }

  /// Calls the store. Converts exceptions and timeouts into a Fault with this rank.
  template <typename Call> std::invoke_result_t<Call> call(milliseconds most, Call body) {
    try {
      return callWithTimeout(most + kSlack, body);
    } catch (const std::exception &error) {
      throw Fault(fmt::format("rank {}: the rendezvous at {}:{} failed: {}; check that all {} "
                              "processes started with this address",
                              launch.rank, launch.masterAddress, launch.masterPort,
                              firstLine(error), launch.worldSize));
    }
  }

  /// Like PyTorch, uses the interface GLOO_SOCKET_IFNAME if it is set. Processes of one machine use
  /// the loopback address, which works in containers whose host name does not resolve. Others use
  /// the interface that reaches the rendezvous, independent of host names.
  std::shared_ptr<::gloo::transport::Device> makeDevice() const {
    if (const char *interface = std::getenv("GLOO_SOCKET_IFNAME"))
      return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
    if (ownAddress.empty())
      return c10d::ProcessGroupGloo::createDefaultDevice();
    return c10d::ProcessGroupGloo::createDeviceForHostname(ownAddress);
  }

  std::string describeDevice() const {
    if (const char *interface = std::getenv("GLOO_SOCKET_IFNAME"))
      return fmt::format("this rank listens at the interface {} (GLOO_SOCKET_IFNAME): check that "
                         "all other ranks can reach it",
                         interface);
    return fmt::format("this rank listens at {}{}: if other ranks cannot reach this address, set "
                       "GLOO_SOCKET_IFNAME to an interface that they can reach",
                       ownAddress.empty() ? "its host name's address" : ownAddress,
                       isLoopback(ownAddress) ? ", which only its own machine can reach" : "");
  }

  LaunchInfo launch;
  CommOptions options;
  milliseconds limit;
  StorePtr keys;
  std::string storeAddress, ownAddress;              // numeric
  std::shared_ptr<::gloo::transport::Device> device; // created for the first group
};

} // namespace

Rendezvous *titanConnectC10d(const char *interface, const LaunchInfo &launch,
                             const CommOptions &options) {
  if (interface != std::string_view(TITAN_C10D_INTERFACE))
    return nullptr;
  // Faults report errors; c10d would additionally log them with a stack trace.
  if (!std::getenv("TORCH_CPP_LOG_LEVEL"))
    FLAGS_caffe2_log_level = 3; // fatal errors only
  try {
    return new StoreRendezvous(launch, options);
  } catch (const std::exception &error) {
    throw Fault(fmt::format("rank {} of {}: cannot reach the rendezvous at {}:{}: {}", launch.rank,
                            launch.worldSize, launch.masterAddress, launch.masterPort,
                            firstLine(error)));
  }
}

} // namespace titan::rt
