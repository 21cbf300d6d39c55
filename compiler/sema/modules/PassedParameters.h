// `with f` in the parameters of a declaration, and in the arguments of a call.
//
//   model Small(layers, embed, with rotary_positions) { ... rotary_positions(head, seq, with
//   rotary_positions) }
//
// In a declaration, it stands for the parameters of `f` that have a default, except those that the
// declaration names itself; in a call, for the arguments `name = name` of these parameters, except
// those that the call gives itself.
#pragma once

#include "compiler/sema/modules/Library.h"

namespace titan::sema {

/// Replaces each `with f` of a file whose imports are loaded. Reports names that are no functions,
/// cycles, and defaults that are no constants, because other files cannot evaluate them.
void replacePassedParameters(const Library &library, Unit &unit, DiagnosticEngine &diags);

} // namespace titan::sema
