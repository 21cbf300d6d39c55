#include "compiler/syntax/TokenPreparer.h"

#include <cctype>

namespace titan::syntax {
namespace detail {
namespace {

bool isBinaryOperator(const Token &t) {
  return t.isOneOf(Lex::POW, Lex::EQ, Lex::NE, Lex::LE, Lex::GE, Lex::LT, Lex::GT, Lex::PLUS,
                   Lex::MINUS, Lex::STAR, Lex::SLASH, Lex::PERCENT, Lex::AT);
}

/// Whether the token deepens the tree until the next separator: operators, and brackets, since
/// `x[a][b][c]` nests to the left.
bool deepens(const Token &t) {
  return isBinaryOperator(t) || isOpener(t) ||
         t.isOneOf(Lex::AND, Lex::OR, Lex::NOT, Lex::IF, Lex::MATCH);
}

} // namespace

TokenPreparer::TokenPreparer(const SourceManager &sources, FileId file,
                             const std::vector<Token> &raw, DiagnosticEngine &diags)
    : sources(sources), file(file), diags(diags) {
  bool begins = true;
  size_t count = 0;
  for (const Token &t : raw) {
    if (t.is(Lex::NEWLINE))
      begins = true;
    if (!t.is(Lex::NEWLINE) && ++count == maxTokens) {
      diags
          .report(Code::FileTooLong, at(t),
                  "a file may have at most " + std::to_string(maxTokens) + " tokens")
          .help("split it into files and `import` them");
      result.limitExceeded = true;
      return;
    }
    if (t.isOneOf(Lex::NEWLINE, Lex::COMMENT))
      continue;
    tokens.push_back(t);
    lineBegins.push_back(std::exchange(begins, false));
  }
}

/// After many errors the text is not a program, and further reports only take time.
void TokenPreparer::countError() {
  constexpr size_t maxErrors = 1000;
  if (++errorCount > maxErrors)
    result.limitExceeded = true;
}

void TokenPreparer::insert(uint32_t type, const Token &before) {
  Token t;
  t.type = type;
  t.offset = out().empty() ? before.offset : out().back().end();
  t.inserted = true;
  out().push_back(t);
}

void TokenPreparer::endStatement(const Token &before) {
  if (!out().empty() && !out().back().isOneOf(Lex::NEWLINE, Lex::SEMI, Lex::LBRACE))
    insert(Lex::NEWLINE, before);
}

/// The Titan form of a character of other languages or word processors.
static const char *remedyFor(std::string_view text) {
  struct Entry {
    std::string_view stray;
    const char *remedy;
  };
  static const char *quote = "strings are written in double quotes: `\"`";
  static const char *space = "this is not an ASCII space: replace it";
  static const Entry entries[] = {
      {"!", "write `not`"},
      {"&", "write `and`"},
      {"|", "write `or`"},
      {"^", "a power is `**`"},
      {"?", "write `if c then a else b`"},
      {"'", quote},
      {"\xE2\x80\x9C", quote},
      {"\xE2\x80\x9D", quote},
      {"\xE2\x80\x98", quote},
      {"\xE2\x80\x99", quote},
      {"\xE2\x80\x93", "write `-`"},
      {"\xE2\x88\x92", "write `-`"},
      {"\xC3\x97", "write `*`"},
      {"\xC2\xA0", space},
      {"\xE2\x80\x8B", space},
      {"\xE3\x80\x80", space},
      {"\xE2\x80\xAF", space},
      {"\\",
       "a statement continues on the next line after an operator or a comma, or inside brackets"},
  };
  for (const Entry &entry : entries)
    if (text.substr(0, entry.stray.size()) == entry.stray)
      return entry.remedy;
  return "";
}

/// Whether stray text touches a word and would be one of its letters.
static bool isInWord(std::string_view text, const Token &t) {
  auto isWord = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0);
  };
  return isWord(size_t{t.offset} - 1) || isWord(t.end());
}

/// Reports a token that is invalid. Returns true if the result must omit it.
bool TokenPreparer::reportInvalid(const Token &t) {
  if (t.is(Lex::OPEN_STRING)) {
    diags.report(Code::OpenString, at(t), "this string is not closed on its line")
        .fix(sources.locate(file, t.end(), 0), "\"");
    openStrings.insert(at(t).line);
    markErroneous(t);
    countError();
  }
  if (!t.is(Lex::STRAY))
    return false;
  std::string_view source = sources.text(file);
  const char *remedy = remedyFor(t.text(source));
  if (!*remedy && isInWord(source, t))
    remedy = "names are ASCII letters, digits and `_`";
  Stray here{at(t).line, remedy};
  if (here != lastStray || !*remedy) // two quotes around a word are reported once
    diags.report(Code::StrayCharacter, at(t), "unexpected " + quoted(t)).help(remedy);
  lastStray = here;
  markErroneous(t);
  countError();
  return true;
}

/// Counts the levels of the syntax tree. Reports more than `maxNesting` and returns false for them.
bool TokenPreparer::countNesting(const Token &t) {
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
        .help("name its subexpressions with `let`");
    return false;
  }
  return true;
}

/// Appends a token to the result and updates the stack of open brackets.
void TokenPreparer::accept(size_t i) {
  const Token &t = tokens[i];
  out().push_back(t);
  if (t.is(Lex::OPEN_STRING))
    out().back().type = Lex::STRING;
  auto index = static_cast<uint32_t>(out().size() - 1);
  if (isOpener(t))
    open.push_back({index, 0});
  if (!isCloser(t))
    return;
  uint32_t opener = open.back().index;
  if (t.is(Lex::RBRACE) && lineBegins[i] && !suspect && indent(opener) > at(t).col)
    suspect = opener;
  if (t.is(Lex::RBRACE) && lineBegins[i] && !result.extraBrace && indent(opener) < at(t).col)
    for (uint32_t k = index; k-- > opener && !result.extraBrace;)
      if (out()[k].is(Lex::RBRACE))
        result.extraBrace = k;
  out()[opener].partner = index;
  out()[index].partner = opener;
  depth -= open.back().operators;
  open.pop_back();
  if (t.is(Lex::RBRACE))
    resetOperators(); // `} else {` continues the statement at the same depth
}

/// Ends the statement before a token at the start of a line, unless it continues.
void TokenPreparer::beginLine(size_t i) {
  const Token &next = tokens[i];
  if (insideParens() || out().empty())
    return;
  bool followsDot = out().size() > 1 && out()[out().size() - 2].is(Lex::DOT);
  if (endsStatement(out().back(), followsDot, next, tokens[i + 1])) {
    insert(Lex::NEWLINE, next);
    resetOperators();
    entriesAtTop |= open.empty() && at(next).col > 1 && !startsDeclaration(next) && !isCloser(next);
  }
}

void TokenPreparer::finish(const Token &end) {
  if (!open.empty())
    reportUnclosed(end, "the file ends here", /*onNewLine=*/true);
  while (!open.empty())
    closeTop(end);
  endStatement(end);
  out().push_back(end);
}

PreparedTokens TokenPreparer::run() {
  for (size_t i = 0; !result.limitExceeded; ++i) {
    const Token &t = tokens[i];
    if (t.is(Token::endOfFile)) {
      finish(t);
      break;
    }
    if (lineBegins[i])
      beginLine(i);
    if (reportInvalid(t))
      continue;
    repairBefore(i);
    if (isCloser(t) && !acceptCloser(i))
      continue;
    // `splits batch; stores params` is one axis: no statement begins with these words.
    bool joins = t.isOneOf(Lex::STORES, Lex::SPLITS) && !tokens[i + 1].is(Lex::ASSIGN);
    if (joins && !out().empty() && out().back().is(Lex::SEMI))
      out().pop_back();
    result.limitExceeded = result.limitExceeded || !countNesting(t);
    accept(i);
  }
  if (result.limitExceeded)
    result.tokens = {Token()};
  return std::move(result);
}

} // namespace detail

using namespace detail;

bool endsStatement(const Token &previous, bool previousFollowsDot, const Token &next,
                   const Token &afterNext) {
  if (previous.isOneOf(Lex::NEWLINE, Lex::LBRACE) || next.is(Token::endOfFile))
    return false; // closed already, or prepareTokens() adds the end itself
  if (startsStatement(next) && !afterNext.isOneOf(Lex::ASSIGN, Lex::DOT))
    return true; // also after `=`: the missing operand is reported there
  if (next.is(Lex::IDENT) && afterNext.is(Lex::ASSIGN) && !previous.is(Lex::COMMA))
    return true; // a definition begins, also after `=`
  bool expectsMore =
      isBinaryOperator(previous) || isOpener(previous) ||
      previous.isOneOf(Lex::COMMA, Lex::ASSIGN, Lex::TILDE, Lex::ARROW, Lex::COLON, Lex::DOT) ||
      (!previousFollowsDot &&
       previous.isOneOf(Lex::THEN, Lex::ELSE, Lex::AS, Lex::ON, Lex::WITH, Lex::IF, Lex::MATCH,
                        Lex::AND, Lex::OR, Lex::NOT, Lex::SPLITS, Lex::STORES));
  if (expectsMore)
    return false;
  if (isBinaryOperator(next) ||
      next.isOneOf(Lex::ASSIGN, Lex::TILDE, Lex::ARROW, Lex::DOT, Lex::LBRACE))
    return false;
  bool continues = next.isOneOf(Lex::THEN, Lex::ELSE, Lex::AS, Lex::ON, Lex::WITH, Lex::AND,
                                Lex::OR, Lex::SPLITS, Lex::STORES);
  return !continues || afterNext.isOneOf(Lex::ASSIGN, Lex::DOT);
}

PreparedTokens prepareTokens(const SourceManager &sources, FileId file,
                             const std::vector<Token> &raw, DiagnosticEngine &diags) {
  return detail::TokenPreparer(sources, file, raw, diags).run();
}

} // namespace titan::syntax
