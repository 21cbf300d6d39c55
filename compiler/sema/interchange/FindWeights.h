// The `weights` declarations for a model.
#ifndef TITAN_COMPILER_SEMA_FINDWEIGHTS_H
#define TITAN_COMPILER_SEMA_FINDWEIGHTS_H

#include "compiler/sema/modules/Library.h"

namespace titan::sema {

/// Reports unknown models and formats of the `weights` declarations of a file.
void checkWeightNames(const Unit &unit, const Library &library, DiagnosticEngine &diags);

/// The first declaration for `model` (DeclarationsFor.h); behind it the declarations that it
/// extends. Empty if there is none.
std::vector<Symbol> findWeights(const Symbol &model, const Unit &unit, const Library &library);

} // namespace titan::sema

#endif
