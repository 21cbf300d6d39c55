#include "base/layout/Mesh.h"

#include <stdexcept>

namespace titan {

Mesh::Mesh(std::vector<MeshAxis> axes) : meshAxes(std::move(axes)) {
  for (const MeshAxis &axis : meshAxes)
    if (axis.degree < 1)
      throw std::invalid_argument("mesh axis '" + axis.name + "' has degree " +
                                  std::to_string(axis.degree));
}

int Mesh::size() const {
  int product = 1;
  for (const MeshAxis &axis : meshAxes)
    product *= axis.degree;
  return product;
}

int Mesh::axisIndex(const std::string &name) const {
  for (size_t i = 0; i < meshAxes.size(); ++i)
    if (meshAxes[i].name == name)
      return static_cast<int>(i);
  throw std::invalid_argument("no mesh axis '" + name + "'");
}

int Mesh::stride(int axis) const {
  int product = 1;
  for (size_t i = axis + 1; i < meshAxes.size(); ++i)
    product *= meshAxes[i].degree;
  return product;
}

std::vector<int> Mesh::coordinates(int rank) const {
  std::vector<int> result(meshAxes.size());
  for (size_t i = meshAxes.size(); i-- > 0;) {
    result[i] = rank % meshAxes[i].degree;
    rank /= meshAxes[i].degree;
  }
  return result;
}

int Mesh::rank(std::span<const int> coordinates) const {
  if (coordinates.size() != meshAxes.size())
    throw std::invalid_argument("a rank of this mesh needs " + std::to_string(meshAxes.size()) +
                                " coordinates");
  int result = 0;
  for (size_t i = 0; i < meshAxes.size(); ++i)
    result = result * meshAxes[i].degree + coordinates[i];
  return result;
}

void Mesh::checkAxes(std::span<const int> axes) const {
  std::vector<bool> seen(meshAxes.size());
  for (int axis : axes) {
    if (axis < 0 || axis >= static_cast<int>(meshAxes.size()))
      throw std::invalid_argument("there is no mesh axis number " + std::to_string(axis));
    if (seen[axis])
      throw std::invalid_argument("mesh axis '" + meshAxes[axis].name + "' is listed twice");
    seen[axis] = true;
  }
}

std::vector<int> Mesh::group(int rank, std::span<const int> axes) const {
  checkAxes(axes);
  std::vector<int> own = coordinates(rank);
  int base = rank;
  int count = 1;
  for (int axis : axes) {
    base -= own[axis] * stride(axis);
    count *= meshAxes[axis].degree;
  }
  std::vector<int> members(count);
  for (int position = 0; position < count; ++position) {
    int rest = position;
    members[position] = base;
    for (size_t i = axes.size(); i-- > 0;) {
      int degree = meshAxes[axes[i]].degree;
      members[position] += rest % degree * stride(axes[i]);
      rest /= degree;
    }
  }
  return members;
}

int Mesh::indexInGroup(int rank, std::span<const int> axes) const {
  checkAxes(axes);
  std::vector<int> own = coordinates(rank);
  int position = 0;
  for (int axis : axes)
    position = position * meshAxes[axis].degree + own[axis];
  return position;
}

std::string Mesh::describe() const {
  std::string text;
  for (const MeshAxis &axis : meshAxes) {
    if (axis.degree == 1)
      continue;
    text += text.empty() ? "" : " x ";
    text += axis.name + " " + std::to_string(axis.degree);
  }
  return text.empty() ? "1" : text;
}

} // namespace titan
