// The formatter behind `titanc fmt`: one way to lay out a program, so that nobody has to discuss
// it.
//
// It keeps what carries meaning for a reader (line breaks, single blank lines, comments) and
// decides the rest: two spaces of indentation, spaces around operators, and `=` and `~` in one
// column where params, typed `let`s, settings or axes stand in consecutive lines. Lines are never
// joined, except that `{` and `else` go up to the line they continue, and only split where a block
// that is broken anywhere between its entries is broken at both braces, and where a line has more
// than 100 columns: after a comma or an operator. format(format(x)) == format(x), and the syntax
// tree does not change; tests hold both.
#ifndef TITAN_COMPILER_SYNTAX_FORMAT_H
#define TITAN_COMPILER_SYNTAX_FORMAT_H

#include "compiler/diagnostics/Diagnostics.h"

namespace titan::syntax {

/// The formatted text, or nothing when the file has syntax errors (they are reported).
std::optional<std::string> format(const SourceManager &sources, FileId file,
                                  DiagnosticEngine &diags);

} // namespace titan::syntax

#endif
