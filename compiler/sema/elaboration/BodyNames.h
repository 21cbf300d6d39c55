// The names that the statements of a body define or give new values.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_BODYNAMES_H
#define TITAN_COMPILER_SEMA_ELABORATION_BODYNAMES_H

#include "compiler/syntax/Stmt.h"

namespace titan::sema {

/// The bodies that a statement has.
std::vector<const syntax::Body *> bodiesOf(const syntax::Stmt &stmt);

/// Those that statements assign to, nested statements included.
std::vector<syntax::Name> assignedNames(const syntax::Body &body);

/// Those that a statement defines for the statements behind it. What the body of an `if` or of an
/// island defines is among them, what the body of a `repeat` defines is not.
std::vector<syntax::Name> definedNames(const syntax::Stmt &stmt);

/// The names that follow `as` in a text: `x[seq as keys]`, `split(x, head as (pair, two))`.
std::vector<syntax::Name> namesAfterAs(const SourceManager &sources, Location text);

} // namespace titan::sema

#endif
