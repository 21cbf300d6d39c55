#include "compiler/syntax/Recovery.h"

#include "TitanParser.h"

namespace titan::syntax {
namespace {

using Parser = TitanParser;

/// Entries of these rules end in their own terminator, so each can be skipped alone.
bool isEntry(size_t rule) {
  return rule == Parser::RuleDeclaration || rule == Parser::RuleStatement ||
         rule == Parser::RuleSetting || rule == Parser::RuleAxis ||
         rule == Parser::RuleOverrideLine || rule == Parser::RuleArm ||
         rule == Parser::RuleConfigEntry || rule == Parser::RuleWeightsEntry;
}

/// Rules that consist of entries.
bool isList(size_t rule) {
  return rule == Parser::RuleFile || rule == Parser::RuleBody || rule == Parser::RuleSettings ||
         rule == Parser::RuleAxes || rule == Parser::RuleOverrides || rule == Parser::RuleArms ||
         rule == Parser::RuleConfigBody || rule == Parser::RuleWeightsBody;
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
  return std::string(prepared.tokens[index].text(sources.text(file)));
}

/// The location of an error: the token, or the end of the previous one if a line ends between them.
Location Recovery::getLocation(size_t index) const {
  const Token &token = prepared.tokens[index];
  Location here = sources.locate(file, token.offset, token.length);
  if (index == 0)
    return here;
  const Token &previous = prepared.tokens[index - 1];
  Location afterPrevious = sources.locate(file, previous.end(), 0);
  bool isEnd = token.inserted || token.isOneOf(Parser::NEWLINE, Token::endOfFile);
  bool isContinued = !previous.isOneOf(Parser::NEWLINE, Parser::SEMI, Parser::LBRACE) &&
                     !token.isOneOf(Parser::ASSIGN, Parser::TILDE);
  return isEnd || (isContinued && here.line > afterPrevious.line) ? afterPrevious : here;
}

/// Whether an error at a token is on the line of a reported one, from which it may follow.
bool Recovery::followsReportedError(size_t index) const {
  return prepared.erroneousLines.count(getLocation(index).line) != 0;
}

Diagnostic *Recovery::report(size_t index, const Expectation &expected) {
  if (followsReportedError(index))
    return nullptr;
  Expectation sensible = expected;
  bool hasPrevious = index > 0 && !prepared.tokens[index - 1].inserted &&
                     !prepared.tokens[index - 1].isOneOf(Parser::NEWLINE, Parser::SEMI);
  // Any keyword may be the name of an argument (`over = 3`), but that is hardly what was meant.
  if (hasPrevious && isKeyword(prepared.tokens[index - 1].type) && !expected.rules.empty())
    sensible.tokens.erase(Parser::ASSIGN);
  std::vector<std::string> words = sensible.words();
  std::string after = hasPrevious ? " after `" + text(index - 1) + "`" : "";
  std::string message;
  constexpr size_t maxWords = 4;
  if (words.empty() || words.size() > maxWords)
    message = "unexpected `" + text(index) + "`" + after;
  else
    message = "expected " + joined(words) + after;
  Diagnostic &made = diags.report(Code::ExpectedSyntax, getLocation(index), std::move(message));
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
    consumed.push_back(prepared.tokens[i].type);
  report(index, expectationAfter(parser->getATN(), *entry, consumed));
}

/// Skips the rest of the current entry with its terminators, or up to the `}` of its list. Brackets
/// with their content count as one token.
void Recovery::skipStatement(antlr4::Parser *parser) const {
  antlr4::TokenStream *input = parser->getTokenStream();
  auto isTerminator = [&](const Token &t) { return t.isOneOf(Parser::NEWLINE, Parser::SEMI); };
  for (;;) {
    const Token &token = prepared.tokens[input->index()];
    if (token.isOneOf(Parser::RBRACE, Token::endOfFile) || isTerminator(token))
      break;
    bool opens = token.isOneOf(Parser::LPAREN, Parser::LBRACKET, Parser::LBRACE) &&
                 token.partner != Token::noPartner;
    input->seek(opens ? token.partner + 1 : input->index() + 1);
  }
  while (isTerminator(prepared.tokens[input->index()]))
    input->seek(input->index() + 1);
}

void Recovery::recover(antlr4::Parser *parser, std::exception_ptr error) {
  antlr4::ParserRuleContext *context = parser->getContext();
  if (isEntry(context->getRuleIndex())) {
    skipStatement(parser);
    endErrorCondition(parser);
    return;
  }
  // Erroneous parameters need not hide errors in the body.
  const Token &start = prepared.tokens[context->getStart()->getTokenIndex()];
  if (context->getRuleIndex() == Parser::RuleFormals && start.is(Parser::LPAREN)) {
    parser->getTokenStream()->seek(start.partner + 1);
    endErrorCondition(parser);
    return;
  }
  if (!context->parent && isList(context->getRuleIndex()))
    return; // there is no outer rule to recover in
  std::rethrow_exception(error);
}

antlr4::Token *Recovery::recoverInline(antlr4::Parser *parser) {
  throw antlr4::InputMismatchException(parser);
}

/// Indented text outside of braces: an earlier `{` is missing, or a `}` is extra.
void Recovery::noteBraceBefore(Diagnostic &diagnostic, size_t index) const {
  if (index < 2)
    return;
  const Token &last = prepared.tokens[index - 2]; // before the line end
  if (last.is(Parser::RBRACE))
    diagnostic.note(sources.locate(file, last.offset, last.length),
                    "the block before it ends here");
  if (last.is(Parser::RBRACE) && prepared.extraBrace) {
    const Token &extraBrace = prepared.tokens[*prepared.extraBrace];
    diagnostic.note(sources.locate(file, extraBrace.offset, extraBrace.length),
                    "is this `}` superfluous?");
  }
  if (!last.is(Parser::RBRACE))
    diagnostic.note(sources.locate(file, last.end(), 0), "is `{` missing here?");
}

/// Between the entries of a list: reports and skips tokens that cannot begin an entry.
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
    // Indented lines outside of braces share one cause.
    bool indented =
        parser->getContext()->getRuleIndex() == Parser::RuleFile && getLocation(before).col > 1;
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
