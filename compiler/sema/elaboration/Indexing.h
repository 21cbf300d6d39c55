// `table[vocab: tokens]`, `x[seq: 0..n as prefix]`, `k[seq as keys]`.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Indexing : ElaboratorComponent {
public:
  explicit Indexing(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  Value evalIndex(const syntax::IndexExpr &expr);

private:
  // `take` and `takeOne` index by a tensor and by a number. A group is a name that denotes several
  // dimensions.
  Value take(const Value &base, const syntax::IndexItem &item, DimId dim);
  Value takeOne(const Value &base, int64_t index, const syntax::IndexItem &item, DimId dim);
  Value slice(const Value &base, const syntax::IndexItem &item, DimId dim);
  std::optional<std::vector<DimId>> findGroup(const syntax::IndexItem &item);
  Value renamed(Value value, const syntax::IndexItem &item, const std::vector<DimId> &from);
  Value rename(const Value &base, DimId from, DimId to, const syntax::IndexItem &item);
};

} // namespace titan::sema
