// A mesh arranges the ranks of a run along axes, from outer to inner; the last axis varies fastest:
// rank = ((c0 * d1 + c1) * d2 + c2) ... Plain data without communication: every rank computes the
// groups of a collective by arithmetic, and tests need no processes.
//
// A group is an *ordered* list of ranks in which the last of its axes varies fastest. A dimension
// sharded over (a, b) has its shards in that order, and an all-gather concatenates them by position
// in the group.
//
// Errors: std::invalid_argument for an unknown or duplicate axis, or a degree below one. These are
// errors of the compiler, not of a user.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace titan {

struct MeshAxis {
  std::string name;
  int degree = 1;
};

class Mesh {
public:
  Mesh() = default;
  explicit Mesh(std::vector<MeshAxis> axes);

  const std::vector<MeshAxis> &axes() const { return meshAxes; }
  /// The product of the degrees; 1 for a mesh without axes.
  int size() const;
  /// The position of the axis with this name, outer first.
  int axisIndex(const std::string &name) const;

  std::vector<int> coordinates(int rank) const;
  int rank(std::span<const int> coordinates) const;

  /// The ranks that equal `rank` on all axes except `axes`, in the order described above. Without
  /// axes, `rank` alone.
  std::vector<int> group(int rank, std::span<const int> axes) const;

  /// The position of `rank` in group(rank, axes).
  int indexInGroup(int rank, std::span<const int> axes) const;

  /// "shard 2 x tp 2" without axes of degree 1; "1" for no axes.
  std::string describe() const;

private:
  int stride(int axis) const;
  void checkAxes(std::span<const int> axes) const;

  std::vector<MeshAxis> meshAxes;
};

} // namespace titan
