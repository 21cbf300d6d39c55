// The nodes of a machine under a mesh: which axes connect ranks of several nodes, and an order of
// the axes in which the axes with most traffic do not. Each node has the same number of consecutive
// ranks, as torchrun, srun and mpirun number them. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace titan {

/// One axis of a mesh, and the bytes that a rank sends along it in a step.
struct AxisTraffic {
  std::string name;
  int64_t degree = 1;
  int64_t bytes = 0;
};

/// For each axis, outer to inner, with these degrees: whether a group of it has ranks on several
/// nodes.
std::vector<bool> findAxesAcrossNodes(const std::vector<int64_t> &degrees, int64_t ranksPerNode);

/// The numbers of the axes, outer to inner, in an order in which less is sent between nodes: the
/// axes that send most are innermost, up to the first one whose ranks do not fit in a node. An axis
/// that sends less is never moved inside one that sends more. All others keep their order. Nothing
/// if the given order is as good.
std::optional<std::vector<size_t>> findBetterOrder(const std::vector<AxisTraffic> &axes,
                                                   int64_t ranksPerNode);

} // namespace titan
