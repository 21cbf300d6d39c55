// The formatter behind `titanc fmt`: one style for all programs.
//
// It preserves line breaks, single blank lines and comments. It decides the rest: two spaces of
// indentation, spaces around operators, and aligned `=` and `~` of params, typed `let`s, settings
// or axes in consecutive lines. It joins lines only to move `{` and `else` to the end of the
// previous line. It splits a line at both braces of a block that is already broken between entries.
// It also splits a line of more than 100 columns after a comma or an operator. format(format(x)) ==
// format(x), and the syntax tree does not change; tests check both.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"

namespace titan::syntax {

/// The formatted text, or nothing after syntax errors, which are reported.
std::optional<std::string> format(const SourceManager &sources, FileId file,
                                  DiagnosticEngine &diags);

} // namespace titan::syntax
