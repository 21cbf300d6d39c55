#include "Agreement.h"

#include "Address.h"
#include "Deadline.h"
#include "Rendezvous.h"

#include "base/Error.h"

#include <algorithm>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

namespace {

using std::chrono::milliseconds;

/// Additional time for more differing ranks after the first one. Ranks often differ in groups, such
/// as all ranks of one machine.
constexpr milliseconds kGroupGrace(300);
/// How long rank 0, the server of the store, waits until all ranks have read a refusal.
constexpr milliseconds kReadingTime(3000);

constexpr std::string_view kAgreed = "agreed ", kRefused = "refused ", kFailed = "failed ";

std::string drawNonce() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

/// The agreement from the view of one rank: rank 0 compares all records and decides.
class Agreement {
public:
  Agreement(Rendezvous &store, const LaunchInfo &launch, RankRecord record)
      : store(store), launch(launch), own(std::move(record)), deadline(store.timeout()) {}

  void run() {
    if (launch.rank == 0)
      store.publish("job", launch.job);
    else
      checkJob();
    claimRank();
    std::string verdict = launch.rank == 0 ? decideVerdict() : awaitVerdict();
    if (verdict.starts_with(kAgreed) && verdict.size() < 100) { // longer texts are not of Titan
      if (launch.localWorldSize != launch.worldSize)
        store.chooseAddress(store.lookup("peer", deadline.left()));
      if (!own.mistake.empty()) // of all ranks, which end now
        confirmReading(launch.worldSize);
      return store.setKeyPrefix(verdict.substr(kAgreed.size()));
    }
    confirmReading(verdict.starts_with(kFailed) ? static_cast<int>(records.size())
                                                : launch.worldSize);
    if (verdict.starts_with(kFailed))
      throw Fault(fmt::format("rank {}: {}", launch.rank, verdict.substr(kFailed.size())));
    if (!verdict.starts_with(kRefused))
      throw Fault(fmt::format("rank {}: the rendezvous at {}:{} does not belong to a Titan run",
                              launch.rank, launch.masterAddress, launch.masterPort));
    throw UserError(verdict.substr(kRefused.size()), /*isOnAllRanks=*/!differs);
  }

private:
  /// Two jobs may use one port. Ranks of the other job must not claim ranks in this job's store.
  void checkJob() {
    std::string job = store.lookup("job", deadline.left());
    if (!job.empty() && !launch.job.empty() && job != launch.job)
      throw UserError(fmt::format("rank {}: another job is at {}:{} ({}; this one is {}): give "
                                  "each job its own MASTER_PORT",
                                  launch.rank, launch.masterAddress, launch.masterPort,
                                  job.substr(0, 100), launch.job));
  }

  void claimRank() {
    // The nonce distinguishes processes of machines with equal names and process ids.
    std::string self = own.process + " " + drawNonce();
    std::string first = store.claim(fmt::format("rank/{}", launch.rank), self);
    if (first != self)
      throw UserError(fmt::format("rank {}: the run at {}:{} has a rank {} already, {}: two "
                                  "processes have the same RANK, or two jobs the same MASTER_PORT",
                                  launch.rank, launch.masterAddress, launch.masterPort, launch.rank,
                                  first.substr(0, std::min(first.rfind(' '), size_t{100}))));
  }

  //===--- Ranks other than 0 ---------------------------------------------===//

  /// Publishes this rank's record, and returns the verdict of rank 0.
  std::string awaitVerdict() {
    store.publish(fmt::format("arrival/{}", store.add("arrivals", 1)),
                  encodeRecord(launch.rank, own));
    std::string verdict = store.lookup("verdict", deadline.left() + kGroupGrace);
    if (verdict.starts_with(kRefused)) {
      std::string first = store.lookup("record/0", deadline.left());
      std::optional<ReceivedRecord> received = decodeRecord(first);
      differs = received && !describeDifferences({{0, received->record}, {1, own}}).empty();
    }
    return verdict;
  }

  //===--- Rank 0 ---------------------------------------------------------===//

  std::string decideVerdict() {
    store.publish("record/0", encodeRecord(0, own));
    records[0] = own;
    std::string verdict = compareAll();
    store.publish("peer", getPeerAddress());
    store.publish("verdict", verdict);
    return verdict;
  }

  /// The first address that other machines reach, for ranks that know none of their own; empty if
  /// there is none.
  std::string getPeerAddress() const {
    for (const auto &[rank, record] : records)
      if (!record.address.empty() && !isLoopback(record.address))
        return record.address;
    return "";
  }

  std::string compareAll() {
    for (int64_t arrival = 1; static_cast<int>(records.size()) < launch.worldSize; ++arrival) {
      std::string text = nextRecord(arrival, deadline.left());
      if (text.empty())
        return std::string(kFailed) + describeMissing();
      std::optional<ReceivedRecord> received = decodeRecord(text);
      if (!received)
        return fmt::format("{}a process at the rendezvous at {}:{} is of another version of Titan: "
                           "build the programs of all ranks with one version",
                           kRefused, launch.masterAddress, launch.masterPort);
      records[received->rank] = std::move(received->record);
      if (!describeDifferences(records).empty())
        return refuse(arrival);
    }
    return std::string(kAgreed) + drawNonce();
  }

  /// Record number `arrival`; empty after a timeout.
  std::string nextRecord(int64_t arrival, milliseconds limit) {
    try {
      return store.lookup(fmt::format("arrival/{}", arrival), limit);
    } catch (const Fault &) {
      return "";
    }
  }

  /// The refusal after record number `arrival` differed.
  std::string refuse(int64_t arrival) {
    Deadline grace(std::min(kGroupGrace, deadline.left()));
    while (static_cast<int>(records.size()) < launch.worldSize && !grace.isOver()) {
      auto received = decodeRecord(nextRecord(++arrival, grace.left()));
      if (!received)
        break;
      records[received->rank] = std::move(received->record);
    }
    const bool isMistake = std::any_of(records.begin(), records.end(), [](const auto &entry) {
      return !entry.second.mistake.empty();
    });
    return fmt::format(
        "{}{}{}", kRefused,
        isMistake ? "" : "the ranks do not run the same training: ", describeDifferences(records));
  }

  std::string describeMissing() const {
    std::vector<int> missing;
    for (int rank = 1; rank < launch.worldSize && missing.size() < 9; ++rank)
      if (!records.count(rank))
        missing.push_back(rank);
    std::string more = missing.size() > 8 ? ", ..." : "";
    missing.resize(std::min<size_t>(missing.size(), 8));
    return fmt::format("the rendezvous at {}:{} failed: rank{} {}{} of {} did not connect within "
                       "{} s; check that all {} processes started with this address",
                       launch.masterAddress, launch.masterPort, missing.size() == 1 ? "" : "s",
                       fmt::join(missing, ", "), more, launch.worldSize,
                       std::chrono::ceil<std::chrono::seconds>(store.timeout()).count(),
                       launch.worldSize);
  }

  /// Confirms that this rank has read the verdict. The store ends with rank 0, so rank 0 waits
  /// until `ranks` ranks, itself included, have read the verdict.
  void confirmReading(int ranks) {
    try {
      if (launch.rank != 0) {
        store.add("told", 1);
        return;
      }
      Deadline reading(kReadingTime);
      while (store.add("told", 0) < ranks - 1 && !reading.isOver())
        std::this_thread::sleep_for(milliseconds(10));
    } catch (const Fault &) { // the end of the store tells the other ranks as well
    }
  }

  Rendezvous &store;
  const LaunchInfo &launch;
  RankRecord own;
  Deadline deadline;
  std::map<int, RankRecord> records; // on rank 0: the received records
  bool differs = false;              // whether this rank differs from rank 0
};

} // namespace

void agree(Rendezvous &store, const LaunchInfo &launch, RankRecord record) {
  record.address = store.address();
  Agreement(store, launch, std::move(record)).run();
}

} // namespace titan::rt
