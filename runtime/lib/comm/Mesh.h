// A mesh names the ranks of a run by coordinates: axes from outer to inner, the last one fastest,
// so rank = ((c0 * d1 + c1) * d2 + c2) ... Plain data without any communication: the groups of a
// collective follow from arithmetic alone, on every rank alike, and tests need no processes.
//
// A group is an *ordered* list of ranks. Its order follows the axes as listed, the last of them
// fastest, because a tensor dimension sharded over (a, b) has its blocks in that order and an
// all-gather concatenates by position in the group.
//
// Errors: std::invalid_argument for an axis that does not exist or is listed twice, or a degree
// below one; these are mistakes of the compiler, not of a user.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace titan::rt {

struct MeshAxis {
  std::string name;
  int degree = 1;
};

class Mesh {
public:
  Mesh() = default;
  explicit Mesh(std::vector<MeshAxis> axes);

  const std::vector<MeshAxis> &axes() const { return meshAxes; }
  /// Product of the degrees; 1 for a mesh without axes.
  int size() const;
  /// Position of the axis with this name, outer first.
  int axisIndex(const std::string &name) const;

  std::vector<int> coordinates(int rank) const;
  int rank(std::span<const int> coordinates) const;

  /// The ranks that agree with `rank` on every axis but those listed, ordered as said above. With
  /// no axis listed that is `rank` alone.
  std::vector<int> group(int rank, std::span<const int> axes) const;

  /// Position of `rank` in group(rank, axes), without building the group.
  int indexInGroup(int rank, std::span<const int> axes) const;

  /// "shard 2 x tp 2", leaving out axes of degree 1; "1" if nothing is left.
  std::string describe() const;

private:
  int stride(int axis) const;
  void checkAxes(std::span<const int> axes) const;

  std::vector<MeshAxis> meshAxes;
};

} // namespace titan::rt
