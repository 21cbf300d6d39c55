// The names of the dimensions of samples and positions: `data { samples = image }` of a run, else
// `default data { ... }` of the file that declares its model, else of the standard library.
#pragma once

#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// The dimensions of data for models of a file, by its `default data` or else that of the standard
/// library. The names are empty without a standard library.
DataDims defaultDataDims(const Unit &unit, const Library &library);

/// Sets `run.dims`. Reports a dimension that no input of the model has, that is an argument of the
/// model, or that has both roles. `hasData` is false for a model without a run, which may lack the
/// dimensions. Returns false after a report.
bool resolveDataDims(Run &run, bool hasData, const Library &library, DiagnosticEngine &diags);

} // namespace titan::sema
