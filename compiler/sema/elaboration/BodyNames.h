// The names that the statements of a body define or assign to.
#pragma once

#include "compiler/syntax/Stmt.h"

namespace titan::sema {

/// The bodies of a statement.
std::vector<const syntax::Body *> getBodies(const syntax::Stmt &stmt);

/// Names that statements assign to, including nested statements.
std::vector<syntax::Name> assignedNames(const syntax::Body &body);

/// Names that a statement defines for later statements. They include definitions in the bodies of
/// an `if` or of a precision region, but not in the body of a `repeat`.
std::vector<syntax::Name> definedNames(const syntax::Stmt &stmt);

/// The names after `as` in a text: `x[seq as keys]`, `split(x, head as (pair, two))`.
std::vector<syntax::Name> namesAfterAs(const SourceManager &sources, Location text);

} // namespace titan::sema
