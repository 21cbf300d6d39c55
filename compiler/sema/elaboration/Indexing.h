// `table[vocab: tokens]`, `x[seq: 0..n as prefix]`, `k[seq as keys]`.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_INDEXING_H
#define TITAN_COMPILER_SEMA_ELABORATION_INDEXING_H

#include "compiler/sema/elaboration/Part.h"

namespace titan::sema {

class Indexing : Part {
public:
  explicit Indexing(Elaboration &parts) : Part(parts) {}

  Value evalIndex(const syntax::IndexExpr &expr);

private:
  Value take(const Value &base, const syntax::IndexItem &item, DimId dim);
  Value takeOne(const Value &base, int64_t index, const syntax::IndexItem &item, DimId dim);
  Value slice(const Value &base, const syntax::IndexItem &item, DimId dim);
  Value renamed(const Value &base, const syntax::IndexItem &item, DimId dim);
};

} // namespace titan::sema

#endif
