#include "compiler/sema/elaboration/Masks.h"

namespace titan::sema {

std::optional<Mask> asMask(const Value &value) {
  if (value.kind == Value::Kind::Mask)
    return value.mask;
  if (value.isWord("causal"))
    return Mask{.causal = true};
  return std::nullopt;
}

std::optional<Mask> intersect(const Mask &lhs, const Mask &rhs) {
  if (lhs.documents && rhs.documents)
    return std::nullopt;
  Mask both = lhs;
  both.causal |= rhs.causal;
  if (rhs.window && (!lhs.window || rhs.window < lhs.window))
    both.window = rhs.window;
  if (rhs.documents)
    both.documents = rhs.documents;
  return both;
}

} // namespace titan::sema
