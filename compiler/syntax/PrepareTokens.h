// Layout: makes the parser's tokens out of the lexer's.
//
// It decides which line ends end a statement, and settles everything about brackets before the
// grammar is consulted, so that a forgotten `}` is one message at the bracket that lacks it and not
// a trail of nonsense. After it
//   - comments, and line ends inside `()` and `[]`, are gone; so is a line end after a token that
//     wants more (an operator, a comma, `=`) or before one that cannot begin a statement;
//   - every statement, setting and axis is followed by NEWLINE, `;` or `,` of its own, also before
//     `}` and at the end of the file (inserted);
//   - brackets match: what was missing is inserted, what was too much is dropped, both reported;
//   - nesting and the length of one expression are bounded, so no later pass can overflow the
//   stack.
#ifndef TITAN_COMPILER_SYNTAX_PREPARETOKENS_H
#define TITAN_COMPILER_SYNTAX_PREPARETOKENS_H

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/Token.h"

#include <optional>
#include <set>

namespace titan::syntax {

/// The deepest that expressions and bodies may nest; each bracket and each operator between two
/// separators (`,`, `;` or the end of a statement) counts one.
constexpr size_t maxNesting = 500;
struct PreparedTokens {
  std::vector<Token> tokens; // ends in endOfFile
  /// Lines on which a mistake was already reported: what the grammar says there is noise.
  std::set<uint32_t> erroneousLines;
  /// A `}` that may be one too many: the line that the next one begins is indented further than
  /// what it closes.
  std::optional<uint32_t> extraBrace;
  /// A limit was exceeded: there are no tokens to parse.
  bool limitExceeded = false;
};

PreparedTokens prepareTokens(const SourceManager &sources, FileId file,
                             const std::vector<Token> &raw, DiagnosticEngine &diags);

/// Whether a line end between two tokens (neither a comment nor a line end) ends a statement, when
/// no `(` or `[` is open. `afterNext` is what follows `next`: a keyword before `=` is a plain key.
bool endsStatement(const Token &previous, bool previousFollowsDot, const Token &next,
                   const Token &afterNext);

} // namespace titan::syntax

#endif
