// The pipeline of a run: an axis of its map that splits the dimension of a `repeat`. The layers
// become consecutive stages, and the ranks along the axis execute different stages.
#pragma once

#include "compiler/sema/mesh/Mesh.h"

namespace titan::sema {

/// Finds the pipeline axis of a map for a model, and sets `mesh.pipeline` if there are several
/// stages. The axis then splits no tensor. The microbatches of the pipeline are those of
/// `accumulate`. If the run names a file with its schedule, `mesh.pipeline` gets the table of the
/// file. Reports stages that do not fit the model, schedules that cannot run, and settings of a
/// pipeline without one.
void resolvePipeline(Run &run, Mesh &mesh, const Model &model, SourceManager &sources,
                     DiagnosticEngine &diags);

} // namespace titan::sema
