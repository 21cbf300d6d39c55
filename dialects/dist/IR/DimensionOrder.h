// The discardable attribute of axis rules whose dimensions --titan-order-dimensions compared.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace titan::dist {

/// On axis rules that list several dimensions that meet in an operation: the choice and its reason,
/// as text. It has a row in the table of titan/IR/DiscardableAttributes.cpp.
inline constexpr llvm::StringLiteral kOrderAttr = "dist.order";

} // namespace titan::dist
