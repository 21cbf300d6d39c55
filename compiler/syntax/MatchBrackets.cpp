// Finds unclosed and extra brackets, reports them at their probable cause, and repairs them.
#include "compiler/syntax/TokenPreparer.h"

#include <algorithm>

namespace titan::syntax::detail {
namespace {

uint32_t getClosingBracket(uint32_t opener) {
  return opener == Lex::LPAREN     ? Lex::RPAREN
         : opener == Lex::LBRACKET ? Lex::RBRACKET
                                   : Lex::RBRACE;
}

} // namespace

/// The column of the first token on the line of an opening bracket. If brackets that were opened on
/// an earlier line (a list of parameters) are closed before it on its line, the earlier line
/// counts.
uint32_t TokenPreparer::indent(uint32_t opener) const {
  uint32_t first = opener;
  for (uint32_t k = opener; k-- > 0 && at(out()[k]).line == at(out()[first]).line;)
    if (isCloser(out()[k]) && out()[k].partner < k)
      first = k = out()[k].partner;
  std::string_view line = sources.line(file, at(out()[first]).line);
  return static_cast<uint32_t>(std::min(line.find_first_not_of(" \t"), line.size()) + 1);
}

/// Reports the innermost open bracket, which `before` shows to be unclosed. If `before` begins a
/// line (`onNewLine`), later errors on this line are still reported.
void TokenPreparer::reportUnclosed(const Token &before, const std::string &why, bool onNewLine) {
  uint32_t index = open.back().index;
  if (out()[index].is(Lex::LBRACE) && suspect)
    index = *suspect;
  const Token &opener = out()[index];
  if (openStrings.count(at(opener).line)) // its closer is inside the string
    return;
  Diagnostic &diag =
      diags.report(Code::UnclosedBracket, at(opener), quoted(opener) + " is never closed");
  diag.note(at(before), why);
  size_t last = out().size() - 1;
  while (last > index && out()[last].is(Lex::NEWLINE))
    --last;
  Location end = sources.locate(file, out()[last].end() - 1, 1);
  if (end.line > at(opener).line && at(before).line > end.line + 1)
    diag.note(end, "its content ends here");
  diag.help("add `" + std::string(fixedSpelling(getClosingBracket(opener.type))) + "`");
  markErroneous(opener);
  markErroneous(out().back());
  if (!onNewLine)
    markErroneous(before);
  countError();
}

/// Inserts the closer of the innermost open bracket.
void TokenPreparer::closeTop(const Token &before) {
  uint32_t opener = open.back().index;
  if (out()[opener].is(Lex::LBRACE))
    endStatement(before);
  insert(getClosingBracket(out()[opener].type), before);
  out()[opener].partner = static_cast<uint32_t>(out().size() - 1);
  out().back().partner = opener;
  depth -= open.back().operators;
  open.pop_back();
}

/// A statement keyword at the start of a line shows that earlier brackets are unclosed.
void TokenPreparer::repairBefore(size_t i) {
  const Token &t = tokens[i];
  if (!lineBegins[i] || open.empty() || !startsStatement(t) ||
      tokens[i + 1].isOneOf(Lex::ASSIGN, Lex::DOT))
    return;
  if (startsDeclaration(t) && tokens[i + 1].is(Lex::LBRACE)) // `model { layers = 6 }` of a run
    return;
  std::string why =
      startsDeclaration(t) ? "this starts a new declaration" : "this starts a new statement";
  if (insideParens()) {
    reportUnclosed(t, why, /*onNewLine=*/true);
    while (insideParens())
      closeTop(t);
  }
  if (startsDeclaration(t) && at(t).col == 1 && !open.empty()) {
    reportUnclosed(t, why, /*onNewLine=*/true);
    insertedBraces = open.size();
    while (!open.empty())
      closeTop(t);
  }
  endStatement(t);
}

/// A `}` for a block of an earlier line, with the rest of a statement after it on its own line.
/// Accepting it would end the block early and cause many errors.
bool TokenPreparer::isMisplacedBrace(size_t i) const {
  size_t brace = open.size();
  while (brace > 0 && !out()[open[brace - 1].index].is(Lex::LBRACE))
    --brace;
  if (!tokens[i].is(Lex::RBRACE) || lineBegins[i] || brace == 0 ||
      at(out()[open[brace - 1].index]).line == at(tokens[i]).line)
    return false;
  if (!insideParens())
    return !lineBegins[i + 1] &&
           !tokens[i + 1].isOneOf(Lex::SEMI, Lex::COMMA, Lex::RBRACE, Lex::ELSE, Token::endOfFile);
  // The enclosing bracket is closed further on in the line.
  constexpr size_t maxLookahead = 200; // tokens, so that the time stays linear
  size_t inner = 0;
  for (size_t k = i + 1; k < i + maxLookahead && k < tokens.size() && !lineBegins[k]; ++k) {
    if (isOpener(tokens[k]))
      ++inner;
    if (isCloser(tokens[k]) && inner-- == 0)
      return tokens[k].is(getClosingBracket(out()[open.back().index].type));
  }
  return false;
}

/// Matches a closing bracket and inserts missing closers. Returns false if it must be dropped.
bool TokenPreparer::acceptCloser(size_t i) {
  const Token &closer = tokens[i];
  if (isMisplacedBrace(i)) {
    diags.report(Code::UnmatchedBracket, at(closer), "`}` in the middle of a statement")
        .fix(at(closer), "");
    markErroneous(closer);
    countError();
    return false;
  }
  auto matches = [&](const Open &o) {
    return getClosingBracket(out()[o.index].type) == closer.type;
  };
  size_t match = open.size();
  while (match > 0 && !matches(open[match - 1])) {
    // `)` and `]` never close over a `{`.
    if (!closer.is(Lex::RBRACE) && out()[open[match - 1].index].is(Lex::LBRACE)) {
      match = 0;
      break;
    }
    --match;
  }
  if (match == 0 && open.empty() && closer.is(Lex::RBRACE) && entriesAtTop)
    return false; // those entries are an error already: their `{` is missing
  if (match == 0 && open.empty() && closer.is(Lex::RBRACE) && insertedBraces) {
    --insertedBraces; // inserted earlier and reported already
    markErroneous(closer);
    return false;
  }
  if (match == 0) {
    diags.report(Code::UnmatchedBracket, at(closer), quoted(closer) + " closes nothing")
        .fix(at(closer), "");
    countError();
    return false;
  }
  if (match < open.size()) {
    reportUnclosed(closer, "before this " + quoted(closer), /*onNewLine=*/false);
    while (open.size() > match)
      closeTop(closer);
  }
  if (closer.is(Lex::RBRACE))
    endStatement(closer);
  return true;
}

} // namespace titan::syntax::detail
