// Expressions as text.
//
// Patterns such as "tm::max($0, $1)" with operand expressions substituted, and literals that denote
// exactly one double. Separate from the models, because patterns are plain strings.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace titan::ir {

/// Replaces `$0` .. `$9` by operands and `$T` by the scalar type.
std::string fillPattern(llvm::StringRef pattern, llvm::ArrayRef<std::string> in,
                        llvm::StringRef type);

/// The shortest decimal that reads back as `value`, with a point or exponent; INFINITY and NAN for
/// values without a decimal.
std::string getLiteral(double value);

} // namespace titan::ir
