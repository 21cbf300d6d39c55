// The meaning of titan.compare.
#pragma once

#include "dialects/titan/IR/Titan.h"

namespace titan::ir {

/// The result of a comparison of two numbers of type `T`.
template <typename T> bool compare(ComparePredicate predicate, T x, T y) {
  switch (predicate) {
  case ComparePredicate::EQ:
    return x == y;
  case ComparePredicate::NE:
    return x != y;
  case ComparePredicate::LT:
    return x < y;
  case ComparePredicate::LE:
    return x <= y;
  case ComparePredicate::GT:
    return x > y;
  case ComparePredicate::GE:
    return x >= y;
  }
  llvm_unreachable("all predicates are covered");
}

} // namespace titan::ir
