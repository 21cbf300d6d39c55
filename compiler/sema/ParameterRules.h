// What a run says of parameters by the pattern of their names: `group` of an optimizer sets their
// weight decay, learning rate and betas, `parameters` how they start and whether they are trained.
// Later ones win. A pattern that matches nothing is an error: it would have no effect.
#ifndef TITAN_COMPILER_SEMA_PARAMETERRULES_H
#define TITAN_COMPILER_SEMA_PARAMETERRULES_H

#include "compiler/sema/Program.h"
#include "compiler/sema/Run.h"

namespace titan::sema {

/// `group "PATTERN" { lr_scale = ..., optimizer = NAME, OPTION = ... }`, added to the run.
void readGroup(const syntax::Setting &setting, const Library &library, const Unit &unit, Run &run,
               DiagnosticEngine &diags);
/// `parameters "PATTERN" { init = ..., frozen = ... }`, added to the run.
void readRule(const syntax::Setting &setting, const Library &library, const Unit &unit, Run &run,
              DiagnosticEngine &diags);
/// What the last group that sets `name` and matches the parameter says; null if there is none.
const Value *groupValue(const Run &run, const std::string &name, const Parameter &parameter);
/// Whether a tensor of this type may start so: an integer is not drawn, and has no fraction.
bool canInitialise(DType dtype, const Initialiser &init);
/// Does to a model's parameters what the run's rules say.
void applyRules(const Run &run, Model &model, DiagnosticEngine &diags);
/// Reports groups that match no parameter.
void checkGroups(const Run &run, const Model &model, DiagnosticEngine &diags);

} // namespace titan::sema

#endif
