// Runs and models that derive from others of their kind: the chain ends somewhere.
#ifndef TITAN_COMPILER_SEMA_DERIVATION_H
#define TITAN_COMPILER_SEMA_DERIVATION_H

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/AST.h"

#include <vector>

namespace titan::sema {

/// One declaration of a chain, each of which derives from the next.
struct Derivation {
  const syntax::Name *name;
  Location base; ///< where it says from what it derives
};

/// Whether `next` may stand at the end of the chain, which then has it. A cycle is reported once,
/// however many declarations lead into it: at the first of its own, with the whole of it.
bool derives(std::vector<Derivation> &chain, Derivation next, const char *kind,
             DiagnosticEngine &diags);

} // namespace titan::sema

#endif
