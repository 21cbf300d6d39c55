// Parameters that files of other software contain merged into others: adapters in their base.
#pragma once

#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/interchange/FindWeights.h"

#include <set>

namespace titan::sema {

/// Elaborates the `merge` entries of `weights` declarations (findAllWeights): the program `@merge`,
/// which updates parameters of `model` to the values that files contain. Files contain adapted
/// parameters instead of adapters. The body is empty if there is nothing to merge. Nothing after an
/// error.
std::optional<Model> elaborateMerges(const std::vector<AppliedWeights> &weights, const Model &model,
                                     const Adapters &adapters, const Library &library,
                                     DiagnosticEngine &diags);

/// The parameters that the program reads and does not update.
std::set<std::string> mergedParameters(const Model &merge);

} // namespace titan::sema
