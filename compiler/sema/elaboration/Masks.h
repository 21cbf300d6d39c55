// What masks of attention are made of: `causal and window(64)`.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_MASKS_H
#define TITAN_COMPILER_SEMA_ELABORATION_MASKS_H

#include "compiler/sema/program/Value.h"

namespace titan::sema {

/// A mask, or what stands for one; nothing otherwise.
std::optional<Mask> asMask(const Value &value);

/// What both let through; nothing where each has documents, as a mask has one `document`.
std::optional<Mask> intersect(const Mask &lhs, const Mask &rhs);

} // namespace titan::sema

#endif
