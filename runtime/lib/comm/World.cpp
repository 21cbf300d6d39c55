// Connects the processes of a run, and makes the group of a set of ranks on its first use.
#include "Agreement.h"
#include "CallWithTimeout.h"
#include "Rendezvous.h"
#include "RootCause.h"
#include "SelfGroup.h"
#include "SharedMemoryGroup.h"
#include "WaitNotice.h"

#include "launch/EnvironmentVariable.h"

#include "Comm.h"
#include "base/Error.h"
#include "base/HostName.h"
#include "files/Checksum.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

class ConnectedWorld final : public World {
public:
  ConnectedWorld(const LaunchInfo &launch, const CommOptions &options, RankRecord record)
      : launchInfo(launch), commOptions(options) {
    if (launchInfo.worldSize == 1)
      return;
    WaitNotice notice = makeNotice("");
    auto begin = std::chrono::steady_clock::now();
    processRendezvous = Rendezvous::connect(launchInfo, options);
    addTransport(record);
    auto remaining = begin + options.connectTimeout - std::chrono::steady_clock::now();
    processRendezvous->setTimeout(std::chrono::ceil<std::chrono::milliseconds>(remaining));
    agree(*processRendezvous, launchInfo, std::move(record));
    processRendezvous->setTimeout(options.connectTimeout);
  }

  const LaunchInfo &launch() const override { return launchInfo; }
  const CommOptions &options() const override { return commOptions; }
  Rendezvous *rendezvous() override { return processRendezvous.get(); }

  Group &group(const std::vector<int> &ranks) override {
    std::unique_ptr<Group> &slot = groups[ranks];
    if (!slot)
      slot = makeGroup(ranks);
    return *slot;
  }
  int64_t messageBytes() const override {
    return sumOverGroups([](const Group &group) { return group.messageBytes(); });
  }
  int64_t bufferBytes() const override {
    return sumOverGroups([](const Group &group) { return group.bufferBytes(); });
  }

protected:
  void leaveGroups() override {
    auto abandoned = std::make_shared<decltype(groups)>(std::move(groups));
    groups.clear();
    try {
      callWithTimeout(std::chrono::seconds(1), [abandoned] { abandoned->clear(); });
    } catch (const TimedOut &) { // the transport waits for peers, which notice the end later
    }
  }

private:
  template <typename Count> int64_t sumOverGroups(Count count) const {
    int64_t sum = 0;
    for (const auto &[ranks, group] : groups)
      if (group)
        sum += count(*group);
    return sum;
  }

  /// Adds to the record the properties of the transport that must be equal on all ranks, and this
  /// rank's process.
  void addTransport(RankRecord &record) const {
    record.process = fmt::format("process {} on {}", getpid(), hostName());
    record.add("WORLD_SIZE", std::to_string(launchInfo.worldSize));
    // The number of processes may differ per machine; whether all are on one machine must not.
    const bool isOneMachine = launchInfo.localWorldSize == launchInfo.worldSize;
    record.add("LOCAL_WORLD_SIZE", isOneMachine ? "WORLD_SIZE" : "less than WORLD_SIZE");
    record.add("TITAN_COMM", commOptions.avoidSharedMemory ? "gloo" : "shared");
    record.add("Titan's runtime (build the program again if it differs)",
               std::string(findC10dInterface()).substr(0, 12));
  }

  WaitNotice makeNotice(const std::string &what) const {
    return WaitNotice(
        fmt::format("rank {} of {}: waiting for the other processes at {}:{}{}, for {} "
                    "seconds at most",
                    launchInfo.rank, launchInfo.worldSize, launchInfo.masterAddress,
                    launchInfo.masterPort, what, commOptions.connectTimeout.count()));
  }

  std::unique_ptr<Group> makeGroup(const std::vector<int> &ranks) {
    auto self = std::find(ranks.begin(), ranks.end(), launchInfo.rank);
    if (self == ranks.end())
      throw Fault(fmt::format("rank {} asked for the group {{{}}}, to which it does not belong",
                              launchInfo.rank, fmt::join(ranks, ", ")));
    if (ranks.size() == 1)
      return std::make_unique<SelfGroup>(launchInfo.rank);
    int position = static_cast<int>(self - ranks.begin());
    WaitNotice notice =
        makeNotice(fmt::format(" for the group of ranks {{{}}}", fmt::join(ranks, ", ")));
    if (launchInfo.localWorldSize == launchInfo.worldSize && !commOptions.avoidSharedMemory) {
      size_t bytes = SharedMemoryGroup::slotBytes(ranks.size());
      if (auto memory = SharedMemory::connect(*processRendezvous, ranks, position, bytes))
        return std::make_unique<SharedMemoryGroup>(ranks, position, std::move(memory),
                                                   commOptions.timeout);
    }
    return processRendezvous->makeGlooGroup(ranks, position);
  }

  LaunchInfo launchInfo;
  CommOptions commOptions;
  std::unique_ptr<Rendezvous> processRendezvous;
  // After `processRendezvous`, so that groups are destroyed before the store from which they were
  // made.
  std::map<std::vector<int>, std::unique_ptr<Group>> groups;
};

/// The seconds that an environment variable contains, if it is set. Throws UserError unless the
/// value is a number of seconds from 1 on.
std::optional<std::chrono::seconds> readSeconds(const char *variable) {
  const char *text = std::getenv(variable);
  if (!text)
    return std::nullopt;
  constexpr long most = 1'000'000; // 11 days; larger values could overflow in milliseconds
  char *end = nullptr;
  long value = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || value <= 0 || value > most)
    throw UserError(fmt::format("the environment variable {} is '{}', expected a number of seconds "
                                "from 1 to {}",
                                variable, text, most));
  return std::chrono::seconds(value);
}

} // namespace

CommOptions CommOptions::ofEnvironment() {
  CommOptions options;
  if (std::optional<std::chrono::seconds> seconds = readSeconds("TITAN_COMM_TIMEOUT")) {
    options.timeout = *seconds;
    options.connectTimeout = std::max(*seconds, std::chrono::seconds(30));
  }
  options.connectTimeout = readSeconds("TITAN_CONNECT_TIMEOUT").value_or(options.connectTimeout);
  static constexpr std::string_view transports[] = {"shared", "gloo"};
  options.avoidSharedMemory = readWord("TITAN_COMM", transports) == 1;
  return options;
}

std::unique_ptr<World> World::connect(const LaunchInfo &launch, const CommOptions &options,
                                      RankRecord record) {
  return std::make_unique<ConnectedWorld>(launch, options, std::move(record));
}

std::string World::withRootCause(const std::string &message, Fault::Peer peer) {
  if (size() == 1)
    return message;
  all = nullptr;
  return titan::rt::withRootCause(*rendezvous(), rank(), size(), message, peer,
                                  [this] { leaveGroups(); });
}

Group &World::worldGroup() {
  if (!all) {
    std::vector<int> ranks(size());
    std::iota(ranks.begin(), ranks.end(), 0);
    all = &group(ranks);
  }
  return *all;
}

void World::runCollectively(const std::function<void()> &body) {
  if (size() == 1)
    return body();
  std::string message;
  try {
    body();
  } catch (const UserError &error) {
    message = error.what();
  }
  int64_t checksum = message.empty() ? 0 : std::max<int64_t>(1, crc32c(message));
  std::vector<int64_t> checksums(static_cast<size_t>(size()));
  worldGroup().allGather(&checksum, checksums.data(), 1, DType::I64, {"agreement to begin", ""});
  auto first = std::find_if(checksums.begin(), checksums.end(), [](int64_t c) { return c != 0; });
  if (first == checksums.end())
    return;
  bool isOnAllRanks = std::count(checksums.begin(), checksums.end(), *first) == size();
  if (checksum)
    throw UserError(message, isOnAllRanks);
  // The rank that found the error reports it.
  throw UserError(fmt::format("rank {} cannot go on", first - checksums.begin()),
                  /*isOnAllRanks=*/true);
}

} // namespace titan::rt
