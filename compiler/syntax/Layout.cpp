#include "compiler/syntax/Layout.h"

#include "TitanLexer.h"

#include <utility>

namespace titan::syntax {
namespace {

using Lex = TitanLexer;

bool isOpener(const Token &t) {
  return t.isOneOf(Lex::LPAREN, Lex::LBRACKET, Lex::LBRACE);
}
bool isCloser(const Token &t) {
  return t.isOneOf(Lex::RPAREN, Lex::RBRACKET, Lex::RBRACE);
}
uint32_t closerOf(uint32_t opener) {
  return opener == Lex::LPAREN     ? Lex::RPAREN
         : opener == Lex::LBRACKET ? Lex::RBRACKET
                                   : Lex::RBRACE;
}

bool isBinaryOperator(const Token &t) {
  return t.isOneOf(Lex::POW, Lex::EQ, Lex::NE, Lex::LE, Lex::GE, Lex::LT, Lex::GT, Lex::PLUS,
                   Lex::MINUS, Lex::STAR, Lex::SLASH, Lex::PERCENT, Lex::AT);
}

/// Makes the tree one level deeper until the next separator: operators, and brackets too, since
/// `x[a][b][c]` nests to the left.
bool deepens(const Token &t) {
  return isBinaryOperator(t) || isOpener(t) || t.isOneOf(Lex::AND, Lex::OR, Lex::NOT, Lex::IF);
}

bool startsDeclaration(const Token &t) {
  return t.isOneOf(Lex::IMPORT, Lex::MODEL, Lex::BLOCK, Lex::FN, Lex::PARALLEL, Lex::TRAIN);
}
bool startsStatement(const Token &t) {
  return startsDeclaration(t) || t.isOneOf(Lex::DIMS, Lex::PARAM, Lex::INPUT, Lex::OUTPUT, Lex::LET,
                                           Lex::REPEAT, Lex::RETURN);
}

class Pass {
public:
  Pass(const SourceManager &sources, FileId file, const std::vector<Token> &raw,
       DiagnosticEngine &diags)
      : sources(sources), file(file), raw(raw), diags(diags) {}

  LayoutResult run();

private:
  struct Open {
    uint32_t index;       // of the opener in the result
    size_t operators = 0; // since the last separator at this level
  };

  Location at(const Token &t) const { return sources.locate(file, t.offset, t.length); }
  std::string quoted(const Token &t) const {
    return "`" + std::string(t.text(sources.text(file))) + "`";
  }
  const Token &upcoming(size_t i) const;
  uint32_t indent(const Token &t) const;
  bool insideParens() const { return !open.empty() && !out()[open.back().index].is(Lex::LBRACE); }
  std::vector<Token> &out() { return result.tokens; }
  const std::vector<Token> &out() const { return result.tokens; }

  void insert(uint32_t type, const Token &before);
  void endStatement(const Token &before);
  void reportUnclosed(const Token &before, const char *why);
  void closeTop(const Token &before);
  void closeParens(const Token &before, const char *why);
  void repairBefore(size_t i);
  bool acceptCloser(const Token &closer);
  void damage(const Token &t) { result.damagedLines.insert(at(t).line); }
  bool isDropped(const Token &t);
  size_t &operatorsHere() { return open.empty() ? topOperators : open.back().operators; }
  void resetOperators() { depth -= std::exchange(operatorsHere(), 0); }
  bool count(const Token &t);
  void take(const Token &t);

  const SourceManager &sources;
  FileId file;
  const std::vector<Token> &raw;
  DiagnosticEngine &diags;
  LayoutResult result;
  std::vector<Open> open;
  size_t depth = 0; // what is counted, at all open levels together
  size_t topOperators = 0;
  /// The first `{` whose `}` stands further to the left than the line that opened it: when some `{`
  /// turns out to lack its `}`, that is where it was forgotten.
  std::optional<uint32_t> suspect;
  bool newLine = true; // since the last token taken
};

/// The first token from `i` on that is neither a comment nor a line end.
const Token &Pass::upcoming(size_t i) const {
  while (raw[i].isOneOf(Lex::COMMENT, Lex::NEWLINE))
    ++i;
  return raw[i];
}

/// The column of the first token on a token's line.
uint32_t Pass::indent(const Token &t) const {
  std::string_view line = sources.line(file, at(t).line);
  return static_cast<uint32_t>(std::min(line.find_first_not_of(" \t"), line.size()) + 1);
}

void Pass::insert(uint32_t type, const Token &before) {
  Token t;
  t.type = type;
  t.offset = out().empty() ? before.offset : out().back().end();
  t.inserted = true;
  out().push_back(t);
}

void Pass::endStatement(const Token &before) {
  if (!out().empty() && !out().back().isOneOf(Lex::NEWLINE, Lex::SEMI, Lex::LBRACE))
    insert(Lex::NEWLINE, before);
}

void Pass::reportUnclosed(const Token &before, const char *why) {
  uint32_t index = open.back().index;
  if (out()[index].is(Lex::LBRACE) && suspect)
    index = *suspect;
  const Token &opener = out()[index];
  Diagnostic &diagnostic =
      diags.report(Code::UnclosedBracket, at(opener), quoted(opener) + " is never closed");
  diagnostic.note(at(before), why);
  std::string closer(fixedSpelling(closerOf(opener.type)));
  diagnostic.help("add `" + closer + "`");
  damage(opener);
  if (!newLine)
    damage(before);
  if (!out().empty())
    damage(out().back());
}

/// Inserts the closer of the innermost open bracket.
void Pass::closeTop(const Token &before) {
  uint32_t opener = open.back().index;
  if (out()[opener].is(Lex::LBRACE))
    endStatement(before);
  insert(closerOf(out()[opener].type), before);
  out()[opener].partner = static_cast<uint32_t>(out().size() - 1);
  out().back().partner = opener;
  depth -= open.back().operators;
  open.pop_back();
}

void Pass::closeParens(const Token &before, const char *why) {
  reportUnclosed(before, why);
  while (insideParens())
    closeTop(before);
}

/// A statement's keyword at the start of a line shows that brackets before it were forgotten.
void Pass::repairBefore(size_t i) {
  const Token &t = raw[i];
  if (!newLine || open.empty() || !startsStatement(t) ||
      upcoming(i + 1).isOneOf(Lex::ASSIGN, Lex::DOT))
    return;
  if (insideParens())
    closeParens(t, startsDeclaration(t) ? "this starts a new declaration"
                                        : "this starts a new statement");
  if (startsDeclaration(t) && at(t).col == 1 && !open.empty()) {
    reportUnclosed(t, "this starts a new declaration");
    while (!open.empty())
      closeTop(t);
  }
  endStatement(t);
}

/// Matches a closing bracket, inserting closers that were forgotten. False when it must be dropped.
bool Pass::acceptCloser(const Token &closer) {
  auto matches = [&](const Open &o) { return closerOf(out()[o.index].type) == closer.type; };
  size_t match = open.size();
  while (match > 0 && !matches(open[match - 1])) {
    // `)` and `]` never close over a `{`.
    if (!closer.is(Lex::RBRACE) && out()[open[match - 1].index].is(Lex::LBRACE)) {
      match = 0;
      break;
    }
    --match;
  }
  if (match == 0) {
    diags.report(Code::UnmatchedBracket, at(closer), quoted(closer) + " closes nothing")
        .fix(at(closer), "");
    return false;
  }
  if (match < open.size()) {
    std::string why = "before this " + quoted(closer);
    reportUnclosed(closer, why.c_str());
    while (open.size() > match)
      closeTop(closer);
  }
  if (closer.is(Lex::RBRACE))
    endStatement(closer);
  return true;
}

/// What to write for a character that Titan does not have, where other languages do.
const char *remedyFor(std::string_view text) {
  struct Entry {
    std::string_view stray;
    const char *remedy;
  };
  static const Entry entries[] = {
      {"!", "write `not`"},
      {"&", "write `and`"},
      {"&&", "write `and`"},
      {"|", "write `or`"},
      {"||", "write `or`"},
      {"'", "strings are written in double quotes"},
      {"^", "a power is written `**`"},
      {"\xE2\x80\x9C", "write `\"`"},
      {"\xE2\x80\x9D", "write `\"`"},
      {"\xE2\x80\x93", "write `-`"},
      {"\xE2\x88\x92", "write `-`"},
      {"\xC3\x97", "write `*`"},
  };
  for (const Entry &entry : entries)
    if (entry.stray == text)
      return entry.remedy;
  return "";
}

/// Reports text that is no token. True if nothing can stand for it.
bool Pass::isDropped(const Token &t) {
  if (t.is(Lex::OPEN_STRING)) {
    diags.report(Code::OpenString, at(t), "this string is not closed on its line")
        .fix(sources.locate(file, t.end(), 0), "\"");
    damage(t);
  }
  if (!t.is(Lex::STRAY))
    return false;
  std::string_view text = t.text(sources.text(file));
  diags.report(Code::StrayCharacter, at(t), "unexpected " + quoted(t)).help(remedyFor(text));
  damage(t);
  return true;
}

/// Keeps the limits. False when one is exceeded.
bool Pass::count(const Token &t) {
  if (t.isOneOf(Lex::NEWLINE, Lex::SEMI, Lex::COMMA)) {
    resetOperators();
  } else if (deepens(t)) {
    ++operatorsHere();
    ++depth;
  }
  if (depth > maxNesting) {
    diags
        .report(Code::NestingTooDeep, at(t),
                "this nests deeper than " + std::to_string(maxNesting) + " levels")
        .help("give parts of it names with `let`");
    return false;
  }
  if (out().size() > maxTokens) {
    diags
        .report(Code::FileTooLong, at(t),
                "a file may have at most " + std::to_string(maxTokens) + " tokens")
        .help("split it into files and `import` them");
    return false;
  }
  return true;
}

void Pass::take(const Token &t) {
  out().push_back(t);
  if (t.is(Lex::OPEN_STRING))
    out().back().type = Lex::STRING;
  auto index = static_cast<uint32_t>(out().size() - 1);
  if (isOpener(t)) {
    open.push_back({index, 0});
  } else if (isCloser(t)) {
    uint32_t opener = open.back().index;
    if (t.is(Lex::RBRACE) && newLine && !suspect && indent(out()[opener]) > at(t).col)
      suspect = opener;
    out()[opener].partner = index;
    out()[index].partner = opener;
    depth -= open.back().operators;
    open.pop_back();
    if (t.is(Lex::RBRACE))
      resetOperators(); // `} else {` goes on, but not deeper
  }
}

LayoutResult Pass::run() {
  for (size_t i = 0; i < raw.size(); ++i) {
    const Token &t = raw[i];
    if (t.is(Lex::COMMENT) || isDropped(t))
      continue;
    if (t.is(Lex::NEWLINE)) {
      newLine = true;
      const Token &next = upcoming(i);
      bool followsDot = out().size() > 1 && out()[out().size() - 2].is(Lex::DOT);
      size_t nextIndex = static_cast<size_t>(&next - raw.data());
      const Token &afterNext = next.is(Token::endOfFile) ? next : upcoming(nextIndex + 1);
      if (!insideParens() && !out().empty() &&
          endsStatement(out().back(), followsDot, next, afterNext)) {
        out().push_back(t);
        if (!count(t))
          break;
      }
      continue;
    }
    if (!t.is(Token::endOfFile))
      repairBefore(i);
    if (isCloser(t) && !acceptCloser(t))
      continue;
    if (t.is(Token::endOfFile)) {
      if (!open.empty())
        reportUnclosed(t, "the file ends here");
      while (!open.empty())
        closeTop(t);
      endStatement(t);
      take(t);
      return std::move(result);
    }
    // `splits batch; stores params` is one axis: no statement begins with these words.
    bool isKey = upcoming(i + 1).is(Lex::ASSIGN);
    if (t.isOneOf(Lex::STORES, Lex::SPLITS) && !isKey && !out().empty() &&
        out().back().is(Lex::SEMI))
      out().pop_back();
    if (!count(t))
      break;
    take(t);
    newLine = false;
  }
  result.hopeless = true;
  return std::move(result);
}

} // namespace

bool endsStatement(const Token &previous, bool previousFollowsDot, const Token &next,
                   const Token &afterNext) {
  if (previous.isOneOf(Lex::NEWLINE, Lex::LBRACE) || next.is(Token::endOfFile))
    return false; // closed already, or layout() adds the end itself
  if (startsStatement(next) && !afterNext.isOneOf(Lex::ASSIGN, Lex::DOT))
    return true; // even after `=`: what is missing there is said there
  bool wantsMore =
      isBinaryOperator(previous) || isOpener(previous) ||
      previous.isOneOf(Lex::COMMA, Lex::ASSIGN, Lex::TILDE, Lex::ARROW, Lex::COLON, Lex::DOT) ||
      (!previousFollowsDot &&
       previous.isOneOf(Lex::THEN, Lex::ELSE, Lex::AS, Lex::ON, Lex::WITH, Lex::IF, Lex::AND,
                        Lex::OR, Lex::NOT, Lex::SPLITS, Lex::STORES));
  if (wantsMore)
    return false;
  if (isBinaryOperator(next) ||
      next.isOneOf(Lex::ASSIGN, Lex::TILDE, Lex::ARROW, Lex::DOT, Lex::LBRACE))
    return false;
  bool continues = next.isOneOf(Lex::THEN, Lex::ELSE, Lex::AS, Lex::ON, Lex::WITH, Lex::AND,
                                Lex::OR, Lex::SPLITS, Lex::STORES);
  return !continues || afterNext.isOneOf(Lex::ASSIGN, Lex::DOT);
}

LayoutResult layout(const SourceManager &sources, FileId file, const std::vector<Token> &raw,
                    DiagnosticEngine &diags) {
  return Pass(sources, file, raw, diags).run();
}

} // namespace titan::syntax
