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

/// Appends `next` to the chain unless that closes a cycle. Reports a cycle once, at its first
/// declaration and with all of its members. Returns false for a cycle.
bool derives(std::vector<Derivation> &chain, Derivation next, const char *kind,
             DiagnosticEngine &diags);

} // namespace titan::sema
