// The layers of each stage of a pipeline: equally many until the compiler knows their costs, as
// many as `pipeline.layers_per_stage` lists, or those between the cuts that `pipeline.cuts` names.
#pragma once

#include "compiler/sema/mesh/Mesh.h"

namespace titan::sema {

/// Whether the run states the layers of each stage, so that the compiler may not move them.
bool statesLayers(const Run &run);

/// The number of layers of each of `stages` stages, each at least 1. The layers are the iterations
/// of all outermost repeats over `dim`, in the order of the program; there are at least as many as
/// stages. Nothing after a report: another number of stages or layers, a cut that is no iteration,
/// of several repeats, or out of order.
std::optional<std::vector<int64_t>> resolveLayers(const Run &run, const Model &model,
                                                  const std::string &dim, int64_t stages,
                                                  DiagnosticEngine &diags);

} // namespace titan::sema
