// `weights` declarations applied to one specialised model.
#pragma once

#include "base/weights/WeightMap.h"
#include "compiler/sema/interchange/FindWeights.h"
#include "compiler/sema/program/Program.h"

#include <optional>
#include <set>

namespace titan::sema {

/// Applies the declarations to the model. Reports entries that do not describe their parameter, and
/// warns of parameters without an entry that are not `merged`. Empty after an error.
std::optional<WeightMap> applyWeights(const std::vector<AppliedWeights> &weights,
                                      const Model &model, const std::set<std::string> &merged,
                                      const Library &library, DiagnosticEngine &diags);

} // namespace titan::sema
