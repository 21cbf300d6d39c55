//===- Rendezvous.cpp - Matches the collectives of ranks ------------------===//

#include "compiler/interpreter/Rendezvous.h"

#include <algorithm>

using namespace titan::interpreter;

static bool haveSameMembers(std::vector<int64_t> a, std::vector<int64_t> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

static std::string list(const std::vector<int64_t> &ranks) {
  std::string text = "[";
  for (size_t i = 0; i < ranks.size(); ++i)
    text.append(i ? ", " : "").append(std::to_string(ranks[i]));
  return text.append("]");
}

static std::string describe(int64_t rank, const Call &call) {
  std::string text = "rank ";
  text.append(std::to_string(rank)).append(" at ").append(call.position).append(": ");
  return text.append(call.what).append(" over ranks ").append(list(call.group));
}

std::optional<std::string> Rendezvous::post(int64_t rank, Call call) {
  calls[rank].push_back(std::move(call));
  return calls[rank].size() == 1 ? compare(rank) : std::nullopt;
}

/// The mismatch between the next call of `rank` and the next calls in its group, if any.
std::optional<std::string> Rendezvous::compare(int64_t rank) const {
  const Call &call = calls[rank].front();
  for (int64_t member : call.group) {
    if (member == rank || calls[member].empty() ||
        !haveSameMembers(calls[member].front().group, call.group))
      continue;
    const Call &other = calls[member].front();
    if (other.group != call.group || other.what != call.what)
      return "collectives do not match\n  " + describe(member, other) + "\n  " +
             describe(rank, call);
  }
  return std::nullopt;
}

bool Rendezvous::isComplete(int64_t rank) const {
  if (calls[rank].empty())
    return false;
  const std::vector<int64_t> &group = calls[rank].front().group;
  return std::all_of(group.begin(), group.end(), [&](int64_t member) {
    return !calls[member].empty() && calls[member].front().group == group;
  });
}

std::optional<std::string> Rendezvous::release(int64_t rank) {
  std::vector<int64_t> group = calls[rank].front().group;
  for (int64_t member : group)
    calls[member].pop_front();
  for (int64_t member : group)
    if (!calls[member].empty())
      if (auto problem = compare(member))
        return problem;
  return std::nullopt;
}

std::string Rendezvous::describeDeadlock() const {
  std::string text = "deadlock: no rank can proceed";
  for (size_t rank = 0; rank < calls.size(); ++rank) {
    text += "\n  ";
    if (!calls[rank].empty())
      text += describe(rank, calls[rank].front());
    else
      text.append("rank ")
          .append(std::to_string(rank))
          .append(finished[rank] ? " has finished" : " is running");
  }
  return text;
}
