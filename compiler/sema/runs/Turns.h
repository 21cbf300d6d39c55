// The losses and periods of parameters, which groups set: `group "critic.*" { loss = critic, every
// = 2 }`. Without a loss, parameters minimise the sum of all losses; without a period, every step
// updates them.
#pragma once

#include "base/turns/Turns.h"
#include "compiler/sema/program/Program.h"
#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// The names of the losses that a parameter minimises, in the order of the model; empty: the sum of
/// all.
std::vector<std::string> getLossNames(const Run &run, const Model &model,
                                      const Parameter &parameter);
/// The values of these losses; if `losses` is empty, of the sum of all.
std::vector<ValueId> getLossValues(const Model &model, const std::vector<std::string> &losses);
/// The steps that update a parameter.
Period getPeriod(const Run &run, const Parameter &parameter);

/// Reports groups with losses that the model does not name or that do not depend on them,
/// parameters for which no group chooses a loss, and steps that would update nothing. If a pipeline
/// divides the repeats over the dimension `pipelined`, reports losses that need none of them.
void checkTurns(const Run &run, const Model &model, const std::string &pipelined,
                DiagnosticEngine &diags);

} // namespace titan::sema
