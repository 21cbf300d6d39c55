#include "compiler/sema/program/Dims.h"

#include <algorithm>

namespace titan::sema {

DimId DimTable::add(std::string name, int64_t size) {
  DimId id = static_cast<DimId>(dims.size());
  dims.push_back({std::move(name), size, id, id});
  return id;
}

DimId DimTable::derive(DimId from, std::string name, int64_t size) {
  DimId origin = dims[from].origin;
  DimId id = add(std::move(name), size);
  dims[id].origin = origin;
  return id;
}

std::string DimTable::uniqueName(DimId id) const {
  auto sameName = [&](const Dim &dim) { return dim.name == dims[id].name; };
  auto earlier = std::count_if(dims.begin(), dims.begin() + id, sameName);
  return earlier ? dims[id].name + "_" + std::to_string(earlier) : dims[id].name;
}

DimSet::DimSet(std::initializer_list<DimId> list) {
  for (DimId id : list)
    insert(id);
}

bool DimSet::insert(DimId id) {
  if (contains(id))
    return false;
  ids.push_back(id);
  return true;
}

bool DimSet::contains(DimId id) const {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool DimSet::containsAll(const DimSet &other) const {
  return std::all_of(other.begin(), other.end(), [&](DimId id) { return contains(id); });
}

bool DimSet::sameDims(const DimSet &other) const {
  return size() == other.size() && containsAll(other);
}

DimSet DimSet::without(const DimSet &other) const {
  DimSet rest;
  for (DimId id : ids)
    if (!other.contains(id))
      rest.insert(id);
  return rest;
}

DimSet DimSet::intersect(const DimSet &other) const {
  DimSet both;
  for (DimId id : ids)
    if (other.contains(id))
      both.insert(id);
  return both;
}

DimSet DimSet::unite(const DimSet &other) const {
  DimSet all = *this;
  for (DimId id : other)
    all.insert(id);
  return all;
}

Join joinElementwise(const DimSet &left, const DimSet &right) {
  Join join;
  join.onlyLeft = left.without(right);
  join.onlyRight = right.without(left);
  join.result = join.onlyRight.empty() ? left : right;
  return join;
}

Contraction contract(const DimSet &left, const DimSet &right, const DimSet &declared) {
  Contraction result;
  result.summed = left.intersect(right).without(declared);
  result.lostLeft = left.without(right).without(declared);
  result.lostRight = right.without(left).without(declared);
  result.result = declared.intersect(left.unite(right));
  result.absent = declared.without(left).without(right);
  return result;
}

DimSet gather(const DimSet &base, DimId d, const DimSet &index) {
  DimSet result;
  for (DimId id : base) {
    if (id != d) {
      result.insert(id);
      continue;
    }
    for (DimId fresh : index.without(base))
      result.insert(fresh);
  }
  return result;
}

} // namespace titan::sema
