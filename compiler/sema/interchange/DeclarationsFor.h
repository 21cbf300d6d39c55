// The search for the declarations about a model.
#pragma once

#include "compiler/sema/modules/Library.h"

#include <functional>

namespace titan::sema {

/// The path that names the model of a declaration; null for declarations of another kind.
using GetModel = std::function<const syntax::Path *(const syntax::Decl &)>;

/// The declarations for `model`, then those for the model from which it derives, and so on. For
/// each model: those of `unit`, of its imports, and of the file of the model.
std::vector<Symbol> declarationsFor(Symbol model, const Unit &unit, const Library &library,
                                    const GetModel &getModel);

} // namespace titan::sema
