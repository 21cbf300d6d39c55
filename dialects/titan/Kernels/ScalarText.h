//===- ScalarText.h - Expressions as text -----------------------*- C++ -*-===//
//
// Patterns such as "tm::max($0, $1)" with operand expressions substituted, and literals that denote
// exactly one double. Separate from the models, because patterns are plain strings.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_TITAN_KERNELS_SCALARTEXT_H
#define TITAN_DIALECTS_TITAN_KERNELS_SCALARTEXT_H

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

#endif // TITAN_DIALECTS_TITAN_KERNELS_SCALARTEXT_H
