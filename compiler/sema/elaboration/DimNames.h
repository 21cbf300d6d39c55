// Resolves and creates names of dimensions.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

#include <tuple>

namespace titan::sema {

class DimNames : ElaboratorComponent {
public:
  explicit DimNames(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// The dimensions that a name denotes; empty after a report.
  std::vector<DimId> resolveDims(const syntax::Path &path);
  std::optional<DimId> resolveDim(const syntax::Path &path);
  /// The dimensions after `over` or `along`, each once; empty after a report.
  std::vector<DimId> dimsAfter(const syntax::Arg &arg);
  /// The dimensions of a binding. A number becomes a dimension of this size. Empty after a report.
  std::vector<DimId> asDims(const std::string &name, Binding &binding, Location at);
  /// Null after a report.
  std::optional<DimSet> dimSet(const syntax::DimList &list);

  /// Creates a dimension once per source line, origin, name and size: a later iteration or call at
  /// the same line gets the same dimension, so that equal values have equal types. `extent` is a
  /// dimension that has this size whatever the sizes are, if there is one.
  DimId derivedDim(DimId from, const std::string &name, int64_t size, Location at,
                   DimId extent = noDim);
  /// The dimensions for the name after `as`, one for each of `from`: visible ones of this name that
  /// have the sizes of `from` whatever the sizes are (`k[keys as seq]` is an inverse, two
  /// parameters may both have `embed as out`), or new ones. Empty after a report: the name denotes
  /// something else, which only `as new` hides.
  std::vector<DimId> renamedDims(const syntax::Name &name, bool hides,
                                 const std::vector<DimId> &from, Location at);
  /// The dimension that a name denotes, or a new one of this size. Returns noDim, after a report,
  /// if the name denotes a dimension of another size.
  DimId findOrCreate(const syntax::Name &name, DimId from, int64_t size);

  /// The dimension that an expression consists of: `batch`. Returns noDim for other expressions.
  DimId namedIn(const syntax::Expr &expr);

  std::optional<DType> resolveDType(const syntax::Name &name);

private:
  /// Creates the dimension of a number once per name, size and place: a call in a repeat passes the
  /// same dimension in every iteration.
  DimId dimOfNumber(const std::string &name, int64_t size, const Location &where);
  bool haveEqualExtents(const std::vector<DimId> &dims, const std::vector<DimId> &others) const;
  void refuseHiding(const syntax::Name &name, const Binding &known, DimId from);

  /// By origin, extent, name, size, line and file.
  std::map<std::tuple<DimId, DimId, std::string, int64_t, uint32_t, uint32_t>, DimId> derived;
  /// By name, size, line, column and file.
  std::map<std::tuple<std::string, int64_t, uint32_t, uint32_t, uint32_t>, DimId> ofNumbers;
};

/// A dimension of this name in a call around the frame; null if there is none.
Binding *findDimInCallers(const std::string &name, const Frame *from);

} // namespace titan::sema
