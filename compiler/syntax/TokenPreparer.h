// The implementation of prepareTokens(), for two files only: PrepareTokens.cpp handles line ends
// and limits, MatchBrackets.cpp matches and repairs brackets.
#pragma once

#include "TitanLexer.h"
#include "compiler/syntax/PrepareTokens.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

namespace titan::syntax::detail {

using Lex = TitanLexer;

inline bool isOpener(const Token &t) {
  return t.isOneOf(Lex::LPAREN, Lex::LBRACKET, Lex::LBRACE);
}
inline bool isCloser(const Token &t) {
  return t.isOneOf(Lex::RPAREN, Lex::RBRACKET, Lex::RBRACE);
}
inline bool startsDeclaration(const Token &t) {
  return t.isOneOf(Lex::IMPORT, Lex::MODEL, Lex::BLOCK, Lex::FN, Lex::DEFAULT, Lex::OPTIMIZER,
                   Lex::SCHEDULE, Lex::PARALLEL, Lex::TRAIN, Lex::CONFIG, Lex::WEIGHTS);
}
inline bool startsStatement(const Token &t) {
  return startsDeclaration(t) ||
         t.isOneOf(Lex::DIMS, Lex::PARAM, Lex::BUFFER, Lex::UPDATE, Lex::LOSS, Lex::METRIC,
                   Lex::STATE, Lex::OPTION, Lex::INPUT, Lex::OUTPUT, Lex::LET, Lex::REPEAT,
                   Lex::RETURN, Lex::IN);
}

class TokenPreparer {
public:
  TokenPreparer(const SourceManager &sources, FileId file, const std::vector<Token> &raw,
                DiagnosticEngine &diags);

  PreparedTokens run();

private:
  struct Open {
    uint32_t index;       // of the opener in the result
    size_t operators = 0; // since the last separator at this level
  };

  // Locations, and the result so far. `before` is the next token of the source.
  Location at(const Token &t) const { return sources.locate(file, t.offset, t.length); }
  std::string quoted(const Token &t) const {
    return "`" + std::string(t.text(sources.text(file))) + "`";
  }
  uint32_t indent(uint32_t opener) const;
  std::vector<Token> &out() { return result.tokens; }
  const std::vector<Token> &out() const { return result.tokens; }
  void insert(uint32_t type, const Token &before);
  void endStatement(const Token &before);
  void markErroneous(const Token &t) { result.erroneousLines.insert(at(t).line); }
  void countError();

  // Lines and limits.
  void beginLine(size_t i);
  bool reportInvalid(const Token &t);
  size_t &operatorsHere() { return open.empty() ? topOperators : open.back().operators; }
  void resetOperators() { depth -= std::exchange(operatorsHere(), 0); }
  bool countNesting(const Token &t);
  void accept(size_t i);
  void finish(const Token &end);

  // Brackets.
  bool insideParens() const { return !open.empty() && !out()[open.back().index].is(Lex::LBRACE); }
  void reportUnclosed(const Token &before, const std::string &why, bool onNewLine);
  void closeTop(const Token &before);
  void repairBefore(size_t i);
  bool isMisplacedBrace(size_t i) const;
  bool acceptCloser(size_t i);

  const SourceManager &sources;
  FileId file;
  DiagnosticEngine &diags;
  std::vector<Token> tokens;    // without comments and line ends; ends in endOfFile
  std::vector<bool> lineBegins; // whether a line begins with the token
  PreparedTokens result;
  std::vector<Open> open;
  size_t depth = 0; // the operators of all levels, see maxNesting
  size_t topOperators = 0;
  size_t errorCount = 0;
  using Stray = std::pair<uint32_t, const char *>; // the line of an invalid token, and the remedy
  Stray lastStray = {0, nullptr};
  std::set<uint32_t> openStrings; // lines with an unterminated string
  bool entriesAtTop = false;      // indented lines outside of all braces
  size_t insertedBraces = 0;      // `}` inserted before a declaration; those of the text may follow
  /// The first `{` whose `}` is indented less than the line of the `{`. If some `}` is missing, it
  /// is probably that of this `{`.
  std::optional<uint32_t> suspect;
};

} // namespace titan::syntax::detail
