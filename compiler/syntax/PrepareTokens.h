// Converts the tokens of the lexer to the tokens of the parser.
//
// The conversion decides which line ends terminate a statement, and it resolves all bracket errors
// before the grammar runs. A missing `}` therefore gives one message at its opening bracket.
//
// The result has these properties:
// - There are no comments, and no line ends inside `()` and `[]`. No line end follows a token that
//   needs an operand (an operator, a comma, `=`) or precedes a token that cannot begin a statement.
// - Every statement, setting and axis ends in a separate NEWLINE, `;` or `,`. The conversion
//   inserts a missing NEWLINE before `}` and at the end of the file.
// - Brackets match: missing ones are inserted and extra ones removed, with a diagnostic.
// - Nesting and expression length are limited, so no later pass can overflow the stack.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/Token.h"

#include <optional>
#include <set>

namespace titan::syntax {

/// The maximum nesting of expressions and bodies. Each bracket and each operator between two
/// separators (`,`, `;` or the end of a statement) counts one.
constexpr size_t maxNesting = 500;

/// The tokens of a file for the parser.
struct PreparedTokens {
  std::vector<Token> tokens; ///< the last one is endOfFile
  /// Lines with a reported error; later syntax errors there are suppressed.
  std::set<uint32_t> erroneousLines;
  /// A `}` that may be extra: the next line is indented further than the closed block.
  std::optional<uint32_t> extraBrace;
  /// A limit was exceeded; there are no tokens to parse.
  bool limitExceeded = false;
};

PreparedTokens prepareTokens(const SourceManager &sources, FileId file,
                             const std::vector<Token> &raw, DiagnosticEngine &diags);

/// Whether a line end between two tokens ends a statement, outside of `(` and `[`. The tokens are
/// neither comments nor line ends. `afterNext` follows `next`: a keyword before `=` is a plain key.
bool endsStatement(const Token &previous, bool previousFollowsDot, const Token &next,
                   const Token &afterNext);

} // namespace titan::syntax
