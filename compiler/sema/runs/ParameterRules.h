// Settings of a run for parameters by the pattern of their names. `group` of an optimizer sets
// the optimizer, its options and the learning rate. `parameters` sets initial values and whether
// they are trained. Later settings win. A pattern without matches is an error, because it would
// have no effect.
#pragma once

#include "compiler/sema/program/Program.h"
#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// `group "PATTERN" { lr_scale = ..., optimizer = NAME, OPTION = ... }`, added to the run.
void readGroup(const syntax::Setting &setting, const Library &library, const Unit &unit, Run &run,
               DiagnosticEngine &diags);
/// `parameters "PATTERN" { init = ..., frozen = ..., init_from = ..., adapter = ... }`, added to
/// the run.
void readRule(const syntax::Setting &setting, const Library &library, const Unit &unit, Run &run,
              DiagnosticEngine &diags);
/// The value of `name` in the last matching group that sets it; null if there is none.
const Value *groupValue(const Run &run, const std::string &name, const Parameter &parameter);
/// Applies the rules of the run to the parameters of a model. A rule does not apply to parameters
/// that an adapter of a later rule declares: `parameters "*" { frozen = true }` before it freezes
/// the others.
void applyRules(const Run &run, Model &model, DiagnosticEngine &diags);
/// Reports groups that match no parameter.
void checkGroups(const Run &run, const Model &model, DiagnosticEngine &diags);

} // namespace titan::sema
