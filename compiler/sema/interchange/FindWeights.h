// The `weights` declarations for a model.
#pragma once

#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/modules/Library.h"
#include "compiler/sema/program/Program.h"

#include <functional>

namespace titan::sema {

/// Reports unknown models and formats of the `weights` declarations of a file.
void checkWeightNames(const Unit &unit, const Library &library, DiagnosticEngine &diags);

/// The first declaration for `model` (DeclarationsFor.h), then the declarations that it extends.
/// Empty if there is none.
std::vector<Symbol> findWeights(const Symbol &model, const Unit &unit, const Library &library);

/// The declarations for a model, applied to the complete model or to a component of it.
struct AppliedWeights {
  std::vector<Symbol> declarations; ///< findWeights
  /// Prefixes of the names of parameters and of tensors in the declarations: "teacher.".
  std::string parameters = {}, tensors = {};
  const syntax::WeightsDecl::Component *component = nullptr; ///< null: the complete model
};

/// The components in the declarations without a parameter of the model. They are of another variant
/// of the model, or misspelled.
std::vector<const syntax::WeightsDecl::Component *>
findUnmatchedComponents(const AppliedWeights &weights, const Model &model);

/// Calls `visit` for each declaration, then for the declarations of its components. If several have
/// an entry for a parameter, the first one applies.
void forEachWeights(
    const AppliedWeights &weights, const Model &model, const Library &library,
    const std::function<void(const AppliedWeights &, const Symbol &declaration)> &visit);

/// The same for several applications, in their order.
void forEachWeights(
    const std::vector<AppliedWeights> &all, const Model &model, const Library &library,
    const std::function<void(const AppliedWeights &, const Symbol &declaration)> &visit);

/// The declarations for the model, then those for the models that it calls; empty if there are
/// none.
std::vector<AppliedWeights> findAllWeights(const Symbol &model,
                                           const std::vector<CalledModel> &called, const Unit &unit,
                                           const Library &library);

} // namespace titan::sema
