// Hints for model arguments in parentheses: `model Tiny = M(embed = 8)`, `train t = M(embed = 8)`.
#include "compiler/syntax/Recovery.h"

#include "TitanParser.h"

namespace titan::syntax {

using Parser = TitanParser;

/// The text from one token to another, inclusive, on one line.
std::string Recovery::textBetween(size_t first, size_t last) const {
  std::string out;
  for (size_t i = first; i <= last; ++i) {
    const Token &token = prepared.tokens[i];
    if (token.inserted || token.is(Parser::NEWLINE))
      continue;
    bool hasSpace = !out.empty() && token.offset > prepared.tokens[i - 1].end();
    out += (hasSpace ? " " : "") + text(i);
  }
  return out;
}

/// Whether the file has a run of this name.
bool Recovery::isRun(const std::string &name) const {
  for (size_t i = 0; i + 1 < prepared.tokens.size(); ++i)
    if (prepared.tokens[i].is(Parser::TRAIN) && text(i + 1) == name)
      return true;
  return false;
}

/// Suggests the line with its arguments in braces.
bool Recovery::addBracesHint(Diagnostic &diagnostic, size_t index,
                             const Expectation &expected) const {
  const Token &open = prepared.tokens[index];
  size_t start = entryStart(index);
  bool isTrain = prepared.tokens[start].is(Parser::TRAIN);
  if (!open.is(Parser::LPAREN) || open.partner == Token::noPartner || index < start + 4 ||
      !expected.rules.count(Parser::RuleSettings) ||
      !(isTrain || prepared.tokens[start].is(Parser::MODEL)))
    return false;
  const std::string head = textBetween(start, index - 1);
  size_t begin = open.partner + 1, end = begin; // the tokens after the parentheses: `on MAP`
  while (!prepared.tokens[end].isOneOf(Parser::LBRACE, Parser::NEWLINE, Parser::SEMI,
                                       Token::endOfFile))
    ++end;
  std::string rest = end > begin ? " " + textBetween(begin, end - 1) : "";
  if (open.partner == index + 1) {
    diagnostic.help("remove the parentheses: `" + head + rest + "`");
    return true;
  }
  bool named = prepared.tokens[index + 2].is(Parser::ASSIGN);
  std::string arguments = named ? textBetween(index + 1, open.partner - 1)
                                : "NAME = " + textBetween(index + 1, open.partner - 1);
  if (isTrain && isRun(text(index - 1)))
    rest += prepared.tokens[end - 1].is(Parser::WITH) ? "" : " with";
  else if (isTrain)
    arguments = "model { " + arguments + " }";
  bool isContinued = prepared.tokens[end].is(Parser::LBRACE);
  diagnostic.help("write arguments in braces: `" + head + rest + " { " + arguments +
                  (isContinued ? ", ... }`" : " }`"));
  return true;
}

} // namespace titan::syntax
