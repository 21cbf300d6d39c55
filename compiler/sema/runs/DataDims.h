// The names of the dimensions of samples and positions: `data { samples = image }` of a run, else
// `default data { ... }` of the file that declares its model, else of the standard library.
#pragma once

#include "compiler/sema/runs/Run.h"

namespace titan::sema {

/// The dimensions of data for models of a file, by its `default data` and that of the standard
/// library.
/// Empty names without a standard library.
DataDims defaultDataDims(const Unit &unit, const Library &library);

/// Sets `run.dims`. Reports dimensions that no input of the model has, and that cannot have their
/// roles. Of a model without a run, `hasData` is false: it may lack the dimensions. Returns false
/// after a report.
bool resolveDataDims(Run &run, bool hasData, const Library &library, DiagnosticEngine &diags);

} // namespace titan::sema
