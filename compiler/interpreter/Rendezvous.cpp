// Matches the collectives and messages of ranks.

#include "compiler/interpreter/Rendezvous.h"

#include <algorithm>

using namespace titan::interpreter;

static std::string list(const std::vector<int64_t> &ranks) {
  std::string text = "[";
  for (size_t i = 0; i < ranks.size(); ++i)
    text.append(i ? ", " : "").append(std::to_string(ranks[i]));
  return text.append("]");
}

static std::string describe(int64_t rank, const Call &call) {
  std::string text = "rank ";
  text.append(std::to_string(rank)).append(" at ").append(call.position).append(": ");
  if (!call.messageEnd.empty())
    return text.append(call.messageEnd)
        .append(" of ")
        .append(call.signature)
        .append(" from rank ")
        .append(std::to_string(call.group.front()))
        .append(" to rank ")
        .append(std::to_string(call.group.back()));
  return text.append(call.signature).append(" over ranks ").append(list(call.group));
}

Lane Call::getLane() const {
  Lane lane{group, !messageEnd.empty()};
  if (!lane.isForMessages)
    std::sort(lane.ranks.begin(), lane.ranks.end());
  return lane;
}

const Call *Rendezvous::getNext(int64_t rank, const Lane &lane) const {
  for (const Call &call : calls[rank])
    if (call.getLane() == lane)
      return &call;
  return nullptr;
}

std::optional<std::string> Rendezvous::post(int64_t rank, Call call) {
  Lane lane = call.getLane();
  bool isNext = !getNext(rank, lane);
  calls[rank].push_back(std::move(call));
  return isNext ? compare(rank, lane) : std::nullopt;
}

std::optional<std::string> Rendezvous::compare(int64_t rank, const Lane &lane) const {
  const Call &call = *getNext(rank, lane);
  for (int64_t member : lane.ranks) {
    const Call *other = member == rank ? nullptr : getNext(member, lane);
    if (other && (other->group != call.group || other->signature != call.signature))
      return (lane.isForMessages ? "the ends of a message do not match\n  "
                                 : "collectives do not match\n  ") +
             describe(member, *other) + "\n  " + describe(rank, call);
  }
  return std::nullopt;
}

std::optional<Lane> Rendezvous::findComplete(int64_t rank) const {
  for (const Call &call : calls[rank]) {
    Lane lane = call.getLane();
    if (getNext(rank, lane) == &call &&
        std::all_of(lane.ranks.begin(), lane.ranks.end(), [&](int64_t member) {
          const Call *other = getNext(member, lane);
          return other && other->group == call.group;
        }))
      return lane;
  }
  return std::nullopt;
}

std::optional<std::string> Rendezvous::release(const Lane &lane) {
  for (int64_t member : lane.ranks) {
    auto isInLane = [&](const Call &call) { return call.getLane() == lane; };
    calls[member].erase(std::find_if(calls[member].begin(), calls[member].end(), isInLane));
  }
  for (int64_t member : lane.ranks)
    if (getNext(member, lane))
      if (auto problem = compare(member, lane))
        return problem;
  return std::nullopt;
}

std::string Rendezvous::describeDeadlock() const {
  std::string text = "deadlock: no rank can proceed";
  for (int64_t rank = 0; rank < static_cast<int64_t>(calls.size()); ++rank) {
    for (const Call &call : calls[rank])
      if (getNext(rank, call.getLane()) == &call)
        text.append("\n  ").append(describe(rank, call));
    if (calls[rank].empty())
      text.append("\n  rank ")
          .append(std::to_string(rank))
          .append(finished[rank] ? " has finished" : " is running");
  }
  return text;
}
