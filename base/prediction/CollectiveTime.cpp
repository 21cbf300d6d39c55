#include "base/prediction/CollectiveTime.h"

#include "base/Error.h"

#include <algorithm>
#include <cmath>

namespace titan {
namespace {

/// The ranks of a group under one link.
struct Level {
  const Link *link;
  double inside; ///< ranks of the group that are connected by this link or by a closer one
  double nodes;  ///< groups of such ranks that this link connects
};

int64_t getBlock(int rank, const Link &link) {
  return link.ranks ? rank / link.ranks : 0;
}

/// The links that connect the ranks of `group`, closest first; those that connect nothing more than
/// a closer one are absent.
std::vector<Level> findLevels(const std::vector<int> &group, const Machine &machine) {
  if (machine.links.empty())
    throw UserError("the machine has no `links`, by which ranks communicate");
  std::vector<Level> levels;
  double closer = 1;
  for (const Link &link : machine.links) {
    const auto inside =
        static_cast<double>(std::count_if(group.begin(), group.end(), [&](int rank) {
          return getBlock(rank, link) == getBlock(group.front(), link);
        }));
    if (inside > closer)
      levels.push_back({&link, inside, inside / closer});
    closer = std::max(closer, inside);
  }
  if (closer < static_cast<double>(group.size()))
    throw UserError("no link of the machine connects all ranks of a group; the last of `links` has "
                    "no `ranks`");
  return levels;
}

/// Of a ring: each rank sends `bytes` over the closest link; over a farther one, the ranks of a
/// node send them together.
double getRingSeconds(double bytes, const std::vector<Level> &levels) {
  double slowest = 0, closer = 1;
  for (const Level &level : levels) {
    slowest = std::max(slowest, bytes / (closer * level.link->bandwidth));
    closer = level.inside;
  }
  return slowest;
}

/// Each rank sends every other one an equal part.
double getAllToAllSeconds(double bytes, size_t size, const std::vector<Level> &levels) {
  double slowest = 0, closer = 1;
  for (const Level &level : levels) {
    const double fraction = (level.inside - closer) / (static_cast<double>(size) - 1);
    slowest = std::max(slowest, bytes * fraction / level.link->bandwidth);
    closer = level.inside;
  }
  return slowest;
}

/// Steps of a ring, or of a tree if that is less.
double getLatency(CollectiveWork::Kind kind, const std::vector<Level> &levels) {
  double ring = 0, tree = 0, one = 0;
  for (const Level &level : levels) {
    ring += (level.nodes - 1) * level.link->latency;
    tree += std::ceil(std::log2(level.nodes)) * level.link->latency;
    one = std::max(one, level.link->latency);
  }
  switch (kind) {
  case CollectiveWork::Kind::AllGather:
  case CollectiveWork::Kind::ReduceScatter:
    return ring;
  case CollectiveWork::Kind::AllReduce:
    return 2 * std::min(ring, tree);
  case CollectiveWork::Kind::AllToAll:
  case CollectiveWork::Kind::Permute:
    return one;
  }
  return one;
}

} // namespace

CollectiveTime getCollectiveTime(const CollectiveWork &work, const Mesh &mesh,
                                 const Machine &machine) {
  const std::vector<int> group = mesh.group(0, work.axes);
  if (group.size() < 2)
    return {};
  const std::vector<Level> levels = findLevels(group, machine);
  double seconds = static_cast<double>(work.messages) * getLatency(work.kind, levels);
  if (work.kind == CollectiveWork::Kind::AllToAll)
    seconds += getAllToAllSeconds(work.bytesSent, group.size(), levels);
  else if (work.kind == CollectiveWork::Kind::Permute)
    seconds += work.bytesSent / levels.back().link->bandwidth;
  else
    seconds += getRingSeconds(work.bytesSent, levels);
  return {seconds, levels.back().link->stolen};
}

double getMessageSeconds(double bytes, int from, int to, const Machine &machine) {
  const Level level = findLevels({from, to}, machine).back();
  return level.link->latency + bytes / level.link->bandwidth;
}

} // namespace titan
