// The terms of attention masks: `causal and window(64)`.
#pragma once

#include "compiler/sema/program/Value.h"

namespace titan::sema {

/// A mask, or a value that denotes one; nothing for other values.
std::optional<Mask> asMask(const Value &value);

/// The conjunction of two masks; nothing if both have documents, because a mask has one `document`.
std::optional<Mask> intersect(const Mask &lhs, const Mask &rhs);

} // namespace titan::sema
