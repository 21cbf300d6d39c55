#include "base/pipeline/Transfers.h"

#include "base/Error.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace titan::pipeline {

namespace {

/// An allocation and a microbatch, or -1.
using Value = std::pair<int, int64_t>;

/// Calls of one rank that write a value.
struct Writes {
  size_t first, last;
};

/// Estimated duration of a call; all others take 1.
constexpr double backwardTime = 2;

class TransferSearch {
public:
  TransferSearch(const Pipeline &pipeline, const StepOrder &order)
      : pipeline(pipeline), order(order), starts(order.size()), ends(order.size()) {}

  std::vector<Transfer> run() {
    findWrites();
    for (size_t rank = 0; rank < order.size(); ++rank)
      findReads(static_cast<int>(rank));
    replay();
    for (Transfer &transfer : transfers)
      transfer.posted = findPost(transfer);
    std::stable_sort(transfers.begin(), transfers.end(), [&](const Transfer &a, const Transfer &b) {
      return getSortKey(a) < getSortKey(b);
    });
    return std::move(transfers);
  }

private:
  const Fragment &getFragment(const FragmentCall &call) const {
    return pipeline.fragments[static_cast<size_t>(call.fragment)];
  }
  Value getValue(int allocation, const FragmentCall &call) const {
    return {allocation, isStash(pipeline, allocation) ? call.microbatch : -1};
  }

  void findWrites() {
    for (size_t rank = 0; rank < order.size(); ++rank)
      for (size_t i = 0; i < order[rank].size(); ++i)
        for (int allocation : getFragment(order[rank][i]).writes) {
          auto &ranks = writes[getValue(allocation, order[rank][i])];
          ranks.try_emplace(static_cast<int>(rank), Writes{i, i}).first->second.last = i;
        }
  }

  void findReads(int rank) {
    const std::vector<FragmentCall> &calls = order[static_cast<size_t>(rank)];
    std::map<Value, size_t> received;
    for (size_t i = 0; i < calls.size(); ++i)
      for (int allocation : getFragment(calls[i]).reads) {
        const Value value = getValue(allocation, calls[i]);
        const auto found = writes.find(value);
        if (found == writes.end())
          fail(calls[i], "which no fragment computes");
        if (auto local = found->second.find(rank); local != found->second.end()) {
          if (local->second.first >= i)
            fail(calls[i], "which a later call computes");
        } else if (received.emplace(value, i).second) {
          const auto &[source, sourceWrites] = *found->second.begin();
          transfers.push_back({value.first, value.second, source, rank, sourceWrites.last, 0, i});
        }
      }
  }

  [[noreturn]] void fail(const FragmentCall &call, const char *why) const {
    throw Fault(fmt::format("the schedule of '{}' runs {} with a value {}", pipeline.program,
                            pipeline::getName(pipeline, call), why));
  }

  /// Estimates when each call starts and ends: as soon as its rank is free and its values are
  /// computed.
  void replay() {
    std::map<std::pair<int, size_t>, std::vector<const Transfer *>> needed;
    for (const Transfer &transfer : transfers)
      needed[{transfer.to, transfer.read}].push_back(&transfer);
    for (bool hasAdvanced = true; hasAdvanced;) {
      hasAdvanced = false;
      for (size_t rank = 0; rank < order.size(); ++rank)
        while (ends[rank].size() < order[rank].size() &&
               runNext(rank, needed[{static_cast<int>(rank), ends[rank].size()}]))
          hasAdvanced = true;
    }
    for (size_t rank = 0; rank < order.size(); ++rank)
      if (ends[rank].size() < order[rank].size())
        fail(order[rank][ends[rank].size()],
             "that is never available: its ranks wait for each other");
  }

  bool runNext(size_t rank, const std::vector<const Transfer *> &needed) {
    double start = ends[rank].empty() ? 0 : ends[rank].back();
    for (const Transfer *transfer : needed) {
      const std::vector<double> &source = ends[static_cast<size_t>(transfer->from)];
      if (transfer->written >= source.size())
        return false;
      start = std::max(start, source[transfer->written]);
    }
    const Fragment &fragment = getFragment(order[rank][ends[rank].size()]);
    starts[rank].push_back(start);
    ends[rank].push_back(start + (fragment.kind == FragmentKind::Backward ? backwardTime : 1));
    return true;
  }

  double getSendTime(const Transfer &transfer) const {
    return ends[static_cast<size_t>(transfer.from)][transfer.written];
  }
  size_t findPost(const Transfer &transfer) const {
    const std::vector<double> &times = starts[static_cast<size_t>(transfer.to)];
    const auto next = std::lower_bound(times.begin(), times.end(), getSendTime(transfer));
    return static_cast<size_t>(std::max<std::ptrdiff_t>(next - times.begin() - 1, 0));
  }
  std::tuple<double, int, int, int> getSortKey(const Transfer &transfer) const {
    return {getSendTime(transfer), transfer.from, transfer.allocation, transfer.to};
  }

  const Pipeline &pipeline;
  const StepOrder &order;
  std::map<Value, std::map<int, Writes>> writes; ///< by rank
  std::vector<Transfer> transfers;
  std::vector<std::vector<double>> starts, ends; ///< of the calls of each rank
};

} // namespace

bool isStash(const Pipeline &pipeline, int allocation) {
  return std::find(pipeline.stashes.begin(), pipeline.stashes.end(), allocation) !=
         pipeline.stashes.end();
}

std::vector<Transfer> findTransfers(const Pipeline &pipeline, const StepOrder &order) {
  return TransferSearch(pipeline, order).run();
}

} // namespace titan::pipeline
