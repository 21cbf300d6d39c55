// The algebra of named dimensions, on plain data: what a tensor's set of dimensions is, how two
// sets join elementwise, and what a contraction sums. It knows neither syntax nor IR, so that the
// typing rules of the language can be read, and tested, in one place.
//
// A dimension is an identity, not a string: two blocks may each have an `ffn`. Sizes are elements;
// 0 means that the size is not known yet. Functions report what is wrong as data (which dimensions,
// on which side); whoever has the source places makes the message.
#ifndef TITAN_COMPILER_SEMA_DIMS_H
#define TITAN_COMPILER_SEMA_DIMS_H

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace titan::sema {

using DimId = uint32_t;
inline constexpr DimId noDim = UINT32_MAX;

/// A declared dimension. `origin` is the dimension that a rename (`seq as keys`) started from, or
/// the dimension itself: renamed dimensions inherit their origin's mesh axes.
struct Dim {
  std::string name;
  int64_t size = 0;
  DimId origin = 0;
};

/// All dimensions of one specialised model. Ids are indices and stay valid.
class DimTable {
public:
  DimId add(std::string name, int64_t size);
  /// A new dimension for an old one; `size` differs from the old one's for slices and splits.
  DimId derive(DimId from, std::string name, int64_t size);
  const Dim &operator[](DimId id) const { return dims[id]; }
  size_t size() const { return dims.size(); }
  /// The name, made unique among all dimensions: `keys`, `keys_1`.
  std::string uniqueName(DimId id) const;

private:
  std::vector<Dim> dims;
};

/// A set of dimensions that remembers the order it was written in (storage order of parameters,
/// default layout of values). The order never changes what a program means: `sameDims` ignores it.
class DimSet {
public:
  using value_type = DimId;
  using const_iterator = std::vector<DimId>::const_iterator;
  using iterator = const_iterator;

  DimSet() = default;
  DimSet(std::initializer_list<DimId> ids);
  /// False, and no change, if the dimension is there already.
  bool insert(DimId id);
  bool contains(DimId id) const;
  bool containsAll(const DimSet &other) const;
  bool sameDims(const DimSet &other) const;
  DimSet without(const DimSet &other) const;
  DimSet intersect(const DimSet &other) const;
  /// This set's order, then what only `other` has, in its order.
  DimSet unite(const DimSet &other) const;
  size_t size() const { return ids.size(); }
  bool empty() const { return ids.empty(); }
  const_iterator begin() const { return ids.begin(); }
  const_iterator end() const { return ids.end(); }
  DimId operator[](size_t i) const { return ids[i]; }
  bool operator==(const DimSet &) const = default;

private:
  std::vector<DimId> ids;
};

/// Elementwise operators join by name, and one side's dimensions must all be on the other: anything
/// else would be an outer product by accident.
struct Join {
  DimSet result;
  DimSet onlyLeft, onlyRight;
  bool valid() const { return onlyLeft.empty() || onlyRight.empty(); }
};
Join joinElementwise(const DimSet &left, const DimSet &right);

/// A contraction sums exactly what both operands have and the declared result lacks.
/// C1 `lost`: a dimension that only one operand has must be in the declared result.
/// C2 `absent`: a declared dimension must be in an operand (there is no broadcast).
struct Contraction {
  DimSet result; ///< the declared dimensions that the operands have, in declared order
  DimSet summed;
  DimSet lostLeft, lostRight;
  DimSet absent;
  bool valid() const { return lostLeft.empty() && lostRight.empty(); }
};
Contraction contract(const DimSet &left, const DimSet &right, const DimSet &declared);

/// Indexing `base[d: index]` replaces `d` by the dimensions of the index, joining those by name.
/// `base` order is kept, with the index's new dimensions where `d` was.
DimSet gather(const DimSet &base, DimId d, const DimSet &index);

} // namespace titan::sema

#endif
