#include "base/flight/Diagnosis.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::flight {

/// The calls of one member.
struct MemberCalls {
  const Record *record;
  int group;
  uint64_t begun, ended;
};

/// The members of each group that have a record.
static std::map<std::vector<int>, std::vector<MemberCalls>>
collectGroups(const std::vector<Record> &records) {
  std::map<std::vector<int>, std::vector<MemberCalls>> groups;
  for (const Record &record : records)
    for (size_t i = 0; i < record.groups.size(); ++i)
      if (const GroupCalls &group = record.groups[i]; group.members.size() > 1)
        groups[group.members].push_back({&record, static_cast<int>(i), group.begun, group.ended});
  return groups;
}

/// The entry of the last call that a member began in the group; empty if newer ones replaced it.
static Entry findBegin(const MemberCalls &member) {
  for (auto entry = member.record->entries.rbegin(); entry != member.record->entries.rend();
       ++entry)
    if (entry->kind == Kind::Begin && entry->group == member.group)
      return *entry;
  return {};
}

std::vector<OpenCall> findOpenCalls(const std::vector<Record> &records) {
  std::vector<OpenCall> calls;
  for (const auto &[members, known] : collectGroups(records)) {
    OpenCall call{members, 0, {}, {}, {}};
    for (const MemberCalls &member : known)
      call.number = std::max(call.number, member.begun);
    std::set<int> begun;
    for (const MemberCalls &member : known)
      if (member.begun == call.number) {
        begun.insert(member.record->rank);
        if (member.ended < call.number) {
          call.waiting.push_back(member.record->rank);
          call.entry = findBegin(member);
        }
      }
    for (int member : members)
      if (!begun.count(member))
        call.missing.push_back(member);
    if (!call.waiting.empty())
      calls.push_back(std::move(call));
  }
  const std::vector<int> causes = findCauses(records, calls);
  std::ranges::stable_sort(calls, [&](const OpenCall &a, const OpenCall &b) {
    auto isOfCause = [&](const OpenCall &call) {
      return std::ranges::any_of(call.missing,
                                 [&](int rank) { return std::ranges::count(causes, rank) > 0; });
    };
    return isOfCause(a) > isOfCause(b);
  });
  return calls;
}

std::vector<int> findCauses(const std::vector<Record> &records,
                            const std::vector<OpenCall> &calls) {
  std::set<int> waiting, missing;
  for (const OpenCall &call : calls) {
    waiting.insert(call.waiting.begin(), call.waiting.end());
    missing.insert(call.missing.begin(), call.missing.end());
  }
  std::set<int> recorded, causes;
  for (const Record &record : records)
    recorded.insert(record.rank);
  for (int rank : missing)
    if (!waiting.count(rank))
      causes.insert(rank);
  for (int rank = 0; rank < records.front().worldSize; ++rank)
    if (!recorded.count(rank))
      causes.insert(rank);
  if (causes.empty() && std::ranges::any_of(records, &Record::failed))
    causes = recorded;
  std::set<int> silent = causes;
  for (const Record &record : records)
    if (record.failed)
      silent.erase(record.rank);
  const std::set<int> &found = silent.empty() ? causes : silent;
  return {found.begin(), found.end()};
}

/// "rank 3", "ranks 0, 1 and 4 others".
static std::string name(const std::vector<int> &ranks) {
  constexpr size_t most = 8;
  std::vector<int> shown(ranks.begin(), ranks.begin() + std::min(most, ranks.size()));
  const std::string rest =
      ranks.size() > most ? fmt::format(" and {} others", ranks.size() - most) : "";
  return fmt::format("rank{} {}{}", ranks.size() == 1 ? "" : "s", fmt::join(shown, ", "), rest);
}

static std::string locate(const Entry &entry) {
  return entry.location.empty() ? entry.action : entry.location + " " + entry.action;
}

/// The last operation or call that a rank began.
static std::string describeLast(const Record &record, int64_t now) {
  for (auto entry = record.entries.rbegin(); entry != record.entries.rend(); ++entry)
    if (entry->kind != Kind::End)
      return fmt::format("rank {}: step {}, {}, {:.1f} s before the last event of the run\n",
                         record.rank, entry->step, locate(*entry),
                         static_cast<double>(now - entry->time) / 1e9);
  return fmt::format("rank {}: nothing\n", record.rank);
}

static std::string describeCall(const OpenCall &call) {
  const std::string what = call.entry.number
                               ? fmt::format("{}, step {}", locate(call.entry), call.entry.step)
                               : "a call that is no longer in the record";
  const std::string others = call.missing.empty()
                                 ? "all members have come: the transfer itself did not end"
                                 : fmt::format("{} did not come", name(call.missing));
  return fmt::format("{} wait{} in call {} of {}: {}\n  {}\n", name(call.waiting),
                     call.waiting.size() == 1 ? "s" : "", call.number, name(call.members), what,
                     others);
}

std::string describe(const std::vector<Record> &records) {
  int64_t now = 0;
  for (const Record &record : records)
    if (!record.entries.empty())
      now = std::max(now, record.entries.back().time);
  const std::vector<OpenCall> calls = findOpenCalls(records);
  const std::vector<int> causes = findCauses(records, calls);
  std::string text;
  if (!causes.empty())
    text += fmt::format("{} kept the others waiting\n\n", name(causes));
  else if (calls.empty())
    text += "no rank waits in a collective\n\n";
  constexpr size_t mostCalls = 16, mostRanks = 64;
  for (size_t i = 0; i < std::min(mostCalls, calls.size()); ++i)
    text += describeCall(calls[i]);
  if (calls.size() > mostCalls)
    text += fmt::format("and {} more calls\n", calls.size() - mostCalls);
  text += calls.empty() ? "" : "\n";
  std::vector<const Record *> order;
  for (const Record &record : records)
    order.push_back(&record);
  std::ranges::stable_sort(order, {}, [&](const Record *record) {
    return std::ranges::count(causes, record->rank) == 0;
  });
  for (size_t i = 0; i < std::min(mostRanks, order.size()); ++i)
    text += describeLast(*order[i], now);
  for (int rank : causes)
    if (std::ranges::none_of(records, [&](const Record &record) { return record.rank == rank; }))
      text += fmt::format("rank {}: no record\n", rank);
  return text;
}

std::string describeEntries(const Record &record, size_t most) {
  std::string text;
  const size_t size = record.entries.size();
  for (size_t i = size - std::min(most, size); i < size; ++i) {
    const Entry &entry = record.entries[i];
    const char *kind = entry.kind == Kind::Begin ? "begin " : entry.kind == Kind::End ? "end " : "";
    text += fmt::format("{:+.6f} s  step {}  {}{}",
                        static_cast<double>(entry.time - record.entries[size - 1].time) / 1e9,
                        entry.step, kind, locate(entry));
    if (entry.group >= 0)
      text +=
          fmt::format("  (call {} of {})", entry.call, name(record.groups[entry.group].members));
    text += '\n';
  }
  return text;
}

} // namespace titan::flight
