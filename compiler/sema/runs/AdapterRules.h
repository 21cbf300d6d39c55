// Adapters that rules of a run give to parameters: `parameters "*.w[qv]" { adapter = LowRank(_) }`.
#pragma once

#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// The value of `adapter`: a function or block, or `none`. An Error value after a report.
Value readAdapter(const syntax::Expr &expr, const Library &library, const Unit &unit,
                  DiagnosticEngine &diags);

bool hasAdapters(const Run &run);

/// The adapters of parameters by the last rule that matches each. `plain` is the model without
/// adapters, whose contractions tell which dimensions are inputs and outputs. An adapter that takes
/// them adapts those parameters that are matrices; reports a rule that adapts no parameter.
Adapters findAdapters(const Run &run, const Model &plain, DiagnosticEngine &diags);

} // namespace titan::sema
