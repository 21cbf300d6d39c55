// Settings of a run that change nothing: Titan ignores no setting silently.
#pragma once

#include "compiler/sema/program/Program.h"
#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// Reports settings of groups and rules that later ones of the same declaration replace for every
/// parameter, or that concern frozen parameters alone, and arguments that the model does not use.
void checkEffects(const Run &run, const Model &model, const Library &library,
                  DiagnosticEngine &diags);

} // namespace titan::sema
