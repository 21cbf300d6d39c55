#include "compiler/syntax/Recovery.h"

#include "TitanParser.h"

#include "llvm/ADT/StringRef.h"

namespace titan::syntax {
namespace {

using Parser = TitanParser;

/// Each entry of these rules ends in a terminator of its own, so one can be given up alone.
bool isEntry(size_t rule) {
  return rule == Parser::RuleDeclaration || rule == Parser::RuleStatement ||
         rule == Parser::RuleSetting || rule == Parser::RuleAxis ||
         rule == Parser::RuleOverrideLine || rule == Parser::RuleArm;
}

/// These consist of entries.
bool isList(size_t rule) {
  return rule == Parser::RuleFile || rule == Parser::RuleBody || rule == Parser::RuleSettings ||
         rule == Parser::RuleAxes || rule == Parser::RuleOverrides || rule == Parser::RuleArms ||
         rule == Parser::RuleOnlySettings;
}

/// Keywords that join parts: nobody means them as a name.
bool isConnective(const Token &token) {
  return token.isOneOf(Parser::THEN, Parser::ELSE, Parser::AS, Parser::SPLITS, Parser::STORES,
                       Parser::AND, Parser::OR, Parser::LET);
}

/// The keyword from `first` to `last` that was meant, for words of other languages and for slips of
/// the finger; empty if none is near.
std::string keywordFor(const std::string &word, uint32_t first, uint32_t last) {
  static const std::pair<const char *, uint32_t> foreign[] = {
      {"def", Parser::FN},         {"func", Parser::FN},       {"function", Parser::FN},
      {"class", Parser::BLOCK},    {"module", Parser::BLOCK},  {"use", Parser::IMPORT},
      {"from", Parser::IMPORT},    {"mesh", Parser::PARALLEL}, {"run", Parser::TRAIN},
      {"include", Parser::IMPORT}, {"var", Parser::LET},       {"const", Parser::LET},
      {"for", Parser::REPEAT},     {"while", Parser::REPEAT},  {"loop", Parser::REPEAT},
      {"weight", Parser::PARAM},   {"dim", Parser::DIMS},      {"switch", Parser::MATCH},
  };
  for (const auto &[theirs, ours] : foreign)
    if (word == theirs && ours >= first && ours <= last)
      return std::string(fixedSpelling(ours));
  std::string best;
  unsigned bestDistance = word.size() > 4 ? 3 : word.size() > 2 ? 2 : 0; // exclusive
  for (uint32_t type = first; type <= last; ++type) {
    std::string keyword(fixedSpelling(type));
    unsigned distance = llvm::StringRef(word).edit_distance(keyword, true, bestDistance);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = keyword;
    }
  }
  return best;
}

/// "a, b or c".
std::string joined(const std::vector<std::string> &words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return out;
}

} // namespace

std::string Recovery::text(size_t index) const {
  return std::string(laidOut.tokens[index].text(sources.text(file)));
}

/// Where to point: at the token, or behind the one before it where a line ends between them.
Location Recovery::place(size_t index) const {
  const Token &token = laidOut.tokens[index];
  Location here = sources.locate(file, token.offset, token.length);
  if (index == 0)
    return here;
  const Token &previous = laidOut.tokens[index - 1];
  Location behind = sources.locate(file, previous.end(), 0);
  bool isEnd = token.inserted || token.isOneOf(Parser::NEWLINE, Token::endOfFile);
  bool goesOn = !previous.isOneOf(Parser::NEWLINE, Parser::SEMI, Parser::LBRACE) &&
                !token.isOneOf(Parser::ASSIGN, Parser::TILDE);
  return isEnd || (goesOn && here.line > behind.line) ? behind : here;
}

/// Whether a mistake here follows from one that was reported.
bool Recovery::isNoise(size_t index) const {
  return laidOut.damagedLines.count(place(index).line) != 0;
}

/// What may have been meant.
void Recovery::addHints(Diagnostic &diagnostic, size_t index, const Expectation &expected) const {
  const Token &token = laidOut.tokens[index];
  Location here = place(index);
  bool afterComma = index > 0 && laidOut.tokens[index - 1].is(Parser::COMMA);
  if (token.is(Parser::STORES) && afterComma) {
    diagnostic.fix(place(index - 1), "");
    return;
  }
  if (isKeyword(token.type) && !isConnective(token) && expected.wantsName()) {
    diagnostic.help("`" + text(index) + "` is a keyword, so it cannot be a name");
    return;
  }
  if (token.is(Parser::EQ) && expected.tokens.count(Parser::ASSIGN)) {
    diagnostic.fix(here, "=");
    return;
  }
  if (token.is(Parser::ASSIGN) && laidOut.tokens[entryStart(index)].is(Parser::IF)) {
    diagnostic.fix(here, "==");
    return;
  }
  if (token.is(Parser::SLASH) && index > 0 && laidOut.tokens[index - 1].is(Parser::SLASH)) {
    diagnostic.help("comments begin with `#`");
    return;
  }
  // A misspelt keyword at the start of a statement was taken for a name.
  size_t first = entryStart(index);
  if (index - first > 1 || !laidOut.tokens[first].is(Parser::IDENT) ||
      expected.rules.count(Parser::RuleSettings))
    return;
  bool declares = expected.rules.count(Parser::RuleDeclaration) != 0;
  std::string keyword = declares ? keywordFor(text(first), Parser::IMPORT, Parser::TRAIN)
                                 : keywordFor(text(first), Parser::DIMS, Parser::IF);
  if (!keyword.empty())
    diagnostic.fix(place(first), keyword);
}

/// The first token of the statement that a token is in.
size_t Recovery::entryStart(size_t index) const {
  while (index > 0 && !laidOut.tokens[index - 1].isOneOf(Parser::NEWLINE, Parser::SEMI,
                                                         Parser::LBRACE, Parser::RBRACE))
    --index;
  return index;
}

Diagnostic *Recovery::report(size_t index, const Expectation &expected) {
  if (isNoise(index))
    return nullptr;
  Expectation sensible = expected;
  bool hasPrevious = index > 0 && !laidOut.tokens[index - 1].inserted &&
                     !laidOut.tokens[index - 1].isOneOf(Parser::NEWLINE, Parser::SEMI);
  // Any keyword may be the name of an argument (`over = 3`), but that is hardly what was meant.
  if (hasPrevious && isKeyword(laidOut.tokens[index - 1].type) && !expected.rules.empty())
    sensible.tokens.erase(Parser::ASSIGN);
  std::vector<std::string> words = sensible.words();
  std::string after = hasPrevious ? " after `" + text(index - 1) + "`" : "";
  std::string message;
  constexpr size_t mostWords = 4;
  if (words.empty() || words.size() > mostWords)
    message = "unexpected `" + text(index) + "`" + after;
  else
    message = "expected " + joined(words) + after;
  Diagnostic &made = diags.report(Code::ExpectedSyntax, place(index), std::move(message));
  addHints(made, index, expected);
  return &made;
}

void Recovery::reportError(antlr4::Parser *parser, const antlr4::RecognitionException &error) {
  if (inErrorRecoveryMode(parser))
    return;
  beginErrorCondition(parser);
  size_t index = error.getOffendingToken()->getTokenIndex();
  antlr4::ParserRuleContext *entry = parser->getContext();
  while (entry->parent && !isEntry(entry->getRuleIndex()))
    entry = static_cast<antlr4::ParserRuleContext *>(entry->parent);
  std::vector<size_t> consumed;
  for (size_t i = entry->getStart()->getTokenIndex(); i < index; ++i)
    consumed.push_back(laidOut.tokens[i].type);
  report(index, expectationAfter(parser->getATN(), *entry, consumed));
}

/// Moves behind the terminators of the entry at hand, over brackets as a whole, or to the `}` that
/// closes the list it is in.
void Recovery::skipStatement(antlr4::Parser *parser) const {
  antlr4::TokenStream *input = parser->getTokenStream();
  auto isTerminator = [&](const Token &t) { return t.isOneOf(Parser::NEWLINE, Parser::SEMI); };
  for (;;) {
    const Token &token = laidOut.tokens[input->index()];
    if (token.isOneOf(Parser::RBRACE, Token::endOfFile) || isTerminator(token))
      break;
    bool opens = token.isOneOf(Parser::LPAREN, Parser::LBRACKET, Parser::LBRACE) &&
                 token.partner != Token::noPartner;
    input->seek(opens ? token.partner + 1 : input->index() + 1);
  }
  while (isTerminator(laidOut.tokens[input->index()]))
    input->seek(input->index() + 1);
}

void Recovery::recover(antlr4::Parser *parser, std::exception_ptr error) {
  antlr4::ParserRuleContext *context = parser->getContext();
  if (isEntry(context->getRuleIndex())) {
    skipStatement(parser);
    endErrorCondition(parser);
    return;
  }
  // Parameters that are wrong need not hide what is wrong in the body.
  const Token &start = laidOut.tokens[context->getStart()->getTokenIndex()];
  if (context->getRuleIndex() == Parser::RuleFormals && start.is(Parser::LPAREN)) {
    parser->getTokenStream()->seek(start.partner + 1);
    endErrorCondition(parser);
    return;
  }
  if (!context->parent && isList(context->getRuleIndex()))
    return; // nothing is left to go on with
  std::rethrow_exception(error);
}

antlr4::Token *Recovery::recoverInline(antlr4::Parser *parser) {
  throw antlr4::InputMismatchException(parser);
}

/// Indented text outside of braces: a `{` before it is missing, or a `}` was too much.
void Recovery::noteBraceBefore(Diagnostic &diagnostic, size_t index) const {
  if (index < 2)
    return;
  const Token &last = laidOut.tokens[index - 2]; // before the line end
  if (last.is(Parser::RBRACE))
    diagnostic.note(sources.locate(file, last.offset, last.length),
                    "the block before it ends here");
  if (last.is(Parser::RBRACE) && laidOut.surplus) {
    const Token &surplus = laidOut.tokens[*laidOut.surplus];
    diagnostic.note(sources.locate(file, surplus.offset, surplus.length),
                    "is this `}` one too many?");
  }
  if (!last.is(Parser::RBRACE))
    diagnostic.note(sources.locate(file, last.end(), 0), "is `{` missing here?");
}

/// Between the entries of a list: skips what cannot begin one.
void Recovery::sync(antlr4::Parser *parser) {
  if (!isList(parser->getContext()->getRuleIndex()))
    return;
  antlr4::atn::ATNState *state = parser->getATN().states[parser->getState()];
  size_t type = state->getStateType();
  if (type != antlr4::atn::ATNState::STAR_LOOP_ENTRY &&
      type != antlr4::atn::ATNState::STAR_LOOP_BACK)
    return;
  const antlr4::misc::IntervalSet &next = parser->getATN().nextTokens(state);
  antlr4::TokenStream *input = parser->getTokenStream();
  bool first = true;
  while (!next.contains(input->LA(1)) && input->LA(1) != antlr4::Token::EOF) {
    size_t before = input->index();
    // Indented lines outside of braces have one cause between them.
    bool indented =
        parser->getContext()->getRuleIndex() == Parser::RuleFile && place(before).col > 1;
    if (first || !indented) {
      Diagnostic *made = report(
          before, expectationAt(parser->getATN(), *parser->getContext(), parser->getState()));
      if (made && indented)
        noteBraceBefore(*made, before);
    }
    first = false;
    skipStatement(parser);
    if (input->index() == before)
      input->consume();
  }
}

} // namespace titan::syntax
