// Built-in functions whose calls contain new dimensions. They are therefore not values:
//
//   split(x, head as (pair, two))          sizes multiply; at most one of the new names is unknown
//   merge(x, (heads, head) as embed)
//   concat(a along nope, b along rope as qk)
//   top_k(x, 2, over experts as chosen)
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Reshaping : ElaboratorComponent {
public:
  explicit Reshaping(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  static const std::set<std::string> &functions();
  Value call(const syntax::CallExpr &expr);

private:
  Value split(const Value &base, DimId dim, const syntax::DimBinding &binding);
  Value merge(Value base, const std::vector<DimId> &from, const syntax::DimBinding &binding);

  /// One operand of a concatenation.
  struct ConcatOperand {
    Value value;
    DimId dim;
    Location loc;
  };
  Value concat(const syntax::CallExpr &expr);
  std::optional<ConcatOperand> concatOperand(const syntax::Arg &arg);
  Value concatenate(const std::vector<ConcatOperand> &operands, DimId resultDim, Location at);

  Value topK(const syntax::CallExpr &expr);
};

} // namespace titan::sema
