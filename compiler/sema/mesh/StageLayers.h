// The number of layers of each stage of a pipeline: from `pipeline.layers_per_stage`, or from the
// first layers of the stages, which `pipeline.cuts` names. Without both, the stages have equal
// numbers of layers until the compiler balances their costs (`--titan-balance-stages`).
#pragma once

#include "compiler/sema/mesh/Mesh.h"

namespace titan::sema {

/// Whether the run states the layers of each stage, so that the compiler may not move them.
bool statesLayers(const Run &run);

/// The number of layers of each of `stages` stages, each at least 1. The layers are the iterations
/// of all outermost repeats over `dim`, in the order of the program; there are at least as many as
/// stages. Nothing after a report: the run lists another number of stages or layers, or a cut names
/// no iteration, iterations of several repeats, or an iteration out of order.
std::optional<std::vector<int64_t>> resolveLayers(const Run &run, const Model &model,
                                                  const std::string &dim, int64_t stages,
                                                  DiagnosticEngine &diags);

} // namespace titan::sema
