// Checks the element types of a program's tensors, and their initial values.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/sema/program/Program.h"

namespace titan::sema {

/// Whether a tensor of this element type can have these initial values: those of integers are a
/// constant without a fraction.
bool canInitialise(DType dtype, const Initialiser &init);
/// Refuses f16, with the reason.
void reportHalf(Location at, DiagnosticEngine &diags);

} // namespace titan::sema
