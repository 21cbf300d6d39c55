// Detects cycles among runs or models that derive from one another.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/AST.h"

#include <vector>

namespace titan::sema {

/// One declaration of a derivation chain.
struct Derivation {
  const syntax::Name *name;
  Location base; ///< the reference to the next declaration of the chain
};

/// Appends `next` to the chain. Reports a cycle, at its first declaration and with all of its
/// members, or a chain that is too long, and returns false. `kind` is "model" or "run".
bool extendChain(std::vector<Derivation> &chain, Derivation next, const char *kind,
                 DiagnosticEngine &diags);

} // namespace titan::sema
