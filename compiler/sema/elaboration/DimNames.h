// Names of dimensions: what they stand for, and those that operations make.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_DIMNAMES_H
#define TITAN_COMPILER_SEMA_ELABORATION_DIMNAMES_H

#include "compiler/sema/elaboration/ElaboratorComponent.h"

#include <tuple>

namespace titan::sema {

class DimNames : ElaboratorComponent {
public:
  explicit DimNames(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// The dimensions that a name stands for; empty after a report.
  std::vector<DimId> dimsOf(const syntax::Path &path);
  std::optional<DimId> dimOf(const syntax::Path &path);
  /// The dimensions behind `over` or `along`, each once; empty after a report.
  std::vector<DimId> dimsAfter(const syntax::Arg &arg);
  std::vector<DimId> asDims(const std::string &name, Binding &binding, Location at);
  /// Null after a report.
  std::optional<DimSet> dimSet(const syntax::DimList &list);

  /// The same text met again (a repeat's next iteration, a second call) makes the same dimension,
  /// so that values of equal meaning have equal types.
  DimId derivedDim(DimId from, const std::string &name, int64_t size, Location at);
  /// After `as`: a name that is a dimension of this size already is that one (`k[keys as seq]` goes
  /// back, two parameters may both have `embed as out`), else it is a new one.
  DimId namedDim(const syntax::Name &name, DimId from, int64_t size, Location at);
  /// The dimension that a name stands for, or a new one of this size. noDim, once reported, if the
  /// name is a dimension of another size.
  DimId findOrCreate(const syntax::Name &name, DimId from, int64_t size);

  std::optional<DType> dtypeOf(const syntax::Name &name);

private:
  std::map<std::tuple<DimId, std::string, int64_t, uint32_t, uint32_t>, DimId> derived;
};

/// A dimension of this name that a call around the frame's has; null if there is none.
Binding *findDimInCallers(const std::string &name, const Frame *from);

} // namespace titan::sema

#endif
