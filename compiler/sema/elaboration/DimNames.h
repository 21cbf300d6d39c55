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
  /// the same line gets the same dimension, so that equal values have equal types.
  DimId derivedDim(DimId from, const std::string &name, int64_t size, Location at);
  /// The dimension for the name after `as`: an existing dimension of this name and size
  /// (`k[keys as seq]` is an inverse, two parameters may both have `embed as out`), else a new one.
  DimId namedDim(const syntax::Name &name, DimId from, int64_t size, Location at);
  /// The dimension that a name denotes, or a new one of this size. Returns noDim, after a report,
  /// if the name denotes a dimension of another size.
  DimId findOrCreate(const syntax::Name &name, DimId from, int64_t size);

  std::optional<DType> resolveDType(const syntax::Name &name);

private:
  /// By origin, name, size, line and file.
  std::map<std::tuple<DimId, std::string, int64_t, uint32_t, uint32_t>, DimId> derived;
};

/// A dimension of this name in a call around the frame; null if there is none.
Binding *findDimInCallers(const std::string &name, const Frame *from);

} // namespace titan::sema
