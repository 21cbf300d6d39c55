// A model with the arguments that it has by its name: `model Llama3_8B = Llama { layers = 32, ...
// }`.
#pragma once

#include "compiler/sema/elaboration/Elaborator.h"

#include <optional>

namespace titan::sema {

struct SpecifiedModel {
  Symbol base; ///< the model with a body
  std::map<std::string, Argument> arguments;
};

/// The model with a body that `model` is or derives from; none if a name is wrong.
Symbol findBaseModel(Symbol model, const Library &library);

/// Follows a model to the one with a body, and collects the arguments on the way; of several for
/// one parameter, that of the most derived model. Nothing after an error, which is reported.
std::optional<SpecifiedModel> specifyModel(const Symbol &model, const Library &library,
                                           DiagnosticEngine &diags);

} // namespace titan::sema
