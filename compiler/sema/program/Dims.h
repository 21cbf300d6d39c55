// The algebra of named dimensions on plain data: the dimension set of a tensor, the elementwise
// join of two sets, and the dimensions that a contraction sums. It depends neither on syntax nor on
// IR, so the typing rules can be read and tested in one file.
//
// A dimension is an identity, not a string: two blocks may each have an `ffn`. Sizes count
// elements; 0 means unknown. Functions return errors as data (dimensions and side). The callers,
// which know the source locations, build the messages.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace titan::sema {

using DimId = uint32_t;
inline constexpr DimId noDim = UINT32_MAX;

/// A declared dimension. `origin` is the source of a rename (`seq as keys`), or the dimension
/// itself: renamed dimensions inherit the mesh axes of their origin. `extent` is a dimension of the
/// same size whatever the sizes are: the source of a rename or of `dims others = batch`, or the
/// dimension itself.
struct Dim {
  std::string name;
  int64_t size = 0;
  DimId origin = 0;
  DimId extent = 0;
};

/// All dimensions of one specialised model. Ids are indices and remain valid.
class DimTable {
public:
  DimId add(std::string name, int64_t size);
  /// A new dimension with this origin; its size differs for slices and splits.
  DimId derive(DimId from, std::string name, int64_t size);
  /// Records that a dimension always has the size of another one.
  void setExtent(DimId id, DimId likeThis) { dims[id].extent = dims[likeThis].extent; }
  const Dim &operator[](DimId id) const { return dims[id]; }
  size_t size() const { return dims.size(); }
  /// The name, unique among all dimensions: `keys`, `keys_1`.
  std::string uniqueName(DimId id) const;

private:
  std::vector<Dim> dims;
};

/// A set of dimensions in written order (the storage order of parameters, the default order of
/// values). The order never changes the meaning of a program; `sameDims` ignores it.
class DimSet {
public:
  using value_type = DimId;
  using const_iterator = std::vector<DimId>::const_iterator;
  using iterator = const_iterator;

  DimSet() = default;
  DimSet(std::initializer_list<DimId> ids);
  /// Returns false, without a change, if the set contains the dimension.
  bool insert(DimId id);
  bool contains(DimId id) const;
  bool containsAll(const DimSet &other) const;
  bool sameDims(const DimSet &other) const;
  DimSet without(const DimSet &other) const;
  DimSet intersect(const DimSet &other) const;
  /// The order of this set, then the additional dimensions of `other` in its order.
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

/// The elementwise join. The dimensions of one side must be a subset of the other: anything else
/// would be an unintended outer product.
struct Join {
  DimSet result;
  DimSet onlyLeft, onlyRight;
  bool valid() const { return onlyLeft.empty() || onlyRight.empty(); }
};
Join joinElementwise(const DimSet &left, const DimSet &right);

/// A contraction sums the dimensions that both operands have and the declared result lacks.
/// C1 `lost`: a dimension of one operand alone must be in the declared result.
/// C2 `absent`: a declared dimension must be in an operand (there is no broadcast).
struct Contraction {
  DimSet result; ///< the declared dimensions that an operand has, in declared order
  DimSet summed;
  DimSet lostLeft, lostRight;
  DimSet absent;
  bool valid() const { return lostLeft.empty() && lostRight.empty(); }
};
Contraction contract(const DimSet &left, const DimSet &right, const DimSet &declared);

/// Indexing `base[d: index]` replaces `d` by the dimensions of the index; common dimensions join by
/// name. The result has the order of `base`, with the new dimensions in the position of `d`.
DimSet gather(const DimSet &base, DimId d, const DimSet &index);

} // namespace titan::sema
