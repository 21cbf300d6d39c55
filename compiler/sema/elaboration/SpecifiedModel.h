// A model with the arguments of its declaration: `model Llama3_8B = Llama { layers = 32, ... }`.
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

/// Whether the model has all of these arguments; reports otherwise.
bool checkArguments(const SpecifiedModel &model, DiagnosticEngine &diags);

/// Follows the derivation from `model` to the model with a body, and collects the arguments. If
/// several models state one argument, the most derived model determines it. Nothing after a report.
std::optional<SpecifiedModel> specifyModel(const Symbol &model, const Library &library,
                                           DiagnosticEngine &diags);

} // namespace titan::sema
