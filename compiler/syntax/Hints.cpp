// Suggestions at syntax errors: typing errors, and idioms of other languages.
#include "compiler/syntax/ForeignNames.h"
#include "compiler/syntax/Recovery.h"

#include "TitanParser.h"

#include "llvm/ADT/StringRef.h"

namespace titan::syntax {
namespace {

using Parser = TitanParser;

/// A construct of other languages with another form in Titan: the erroneous token with its
/// neighbours.
struct ForeignIdiom {
  uint32_t before, here, after;
  const char *remedy;
};
constexpr uint32_t any = Token::noPartner; // no type of a token: matches all

const char *remedyFor(uint32_t before, uint32_t here, uint32_t after) {
  static const char *comment = "comments begin with `#`; `/` is division";
  static const char *update = "write the assignment in full: `x = x + y`";
  static const char *method = "values have no members: call a function, `f(x)`; dimensions have "
                              "names, so a model needs no transpose or reshape";
  static const char *index = "an index names its dimension: `x[seq: 0]`, `x[seq: 0..4 as part]`; "
                             "of a list it is `element(list, 0)`";
  static const ForeignIdiom idioms[] = {
      {Parser::SLASH, Parser::SLASH, any, comment},
      {Parser::SLASH, Parser::STAR, any, comment},
      {any, Parser::SLASH, Parser::SLASH, comment},
      {any, Parser::SLASH, Parser::STAR, comment},
      {any, Parser::PLUS, Parser::ASSIGN, update},
      {any, Parser::MINUS, Parser::ASSIGN, update},
      {any, Parser::STAR, Parser::ASSIGN, update},
      {any, Parser::SLASH, Parser::ASSIGN, update},
      {any, Parser::DOT, Parser::INT, "a number begins with a digit: `0.5`"},
      {Parser::INT, Parser::DOT, any, "a number does not end in a point: `1.0`"},
      {Parser::RPAREN, Parser::DOT, any, method},
      {Parser::RBRACKET, Parser::DOT, any, method},
      {Parser::LBRACKET, Parser::COLON, any, index},
      {Parser::LBRACKET, Parser::INT, any, index},
      {Parser::INT, Parser::COLON, any, "a range is written `0..4`"},
      {Parser::RPAREN, Parser::LPAREN, any,
       "the result of a call is not a function: write all arguments in one call"},
      {Parser::INT, Parser::IF, any, "write `if c then a else b`"},
      {Parser::FLOAT, Parser::IF, any, "write `if c then a else b`"},
      {Parser::IDENT, Parser::IF, any, "write `if c then a else b`"},
      {Parser::RPAREN, Parser::IF, any, "write `if c then a else b`"},
      {Parser::RBRACKET, Parser::IF, any, "write `if c then a else b`"},
  };
  auto fits = [](uint32_t wanted, uint32_t type) { return wanted == any || wanted == type; };
  for (const ForeignIdiom &idiom : idioms)
    if (fits(idiom.before, before) && idiom.here == here && fits(idiom.after, after))
      return idiom.remedy;
  return nullptr;
}

/// Connecting keywords, which nobody uses as a name.
bool isConnective(const Token &token) {
  return token.isOneOf(Parser::THEN, Parser::ELSE, Parser::AS, Parser::SPLITS, Parser::STORES,
                       Parser::AND, Parser::OR, Parser::LET);
}

/// The nearest candidate that differs by a typing error only; empty if there is none.
std::string nearestWord(const std::string &word, const std::vector<std::string> &candidates) {
  std::string best;
  // Two edits in words of more than four letters, one in words of three or four. The bound is
  // exclusive.
  unsigned bestDistance = word.size() > 4 ? 3 : word.size() > 2 ? 2 : 0;
  for (const std::string &candidate : candidates) {
    unsigned distance =
        llvm::StringRef(word).edit_distance(candidate, /*AllowReplacements=*/true, bestDistance);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

/// The intended keyword between `first` and `last`, for words of other languages and typing errors;
/// empty if none is near.
std::string keywordFor(const std::string &word, uint32_t first, uint32_t last) {
  static const std::pair<const char *, uint32_t> foreign[] = {
      {"def", Parser::FN},         {"func", Parser::FN},       {"function", Parser::FN},
      {"class", Parser::BLOCK},    {"module", Parser::BLOCK},  {"use", Parser::IMPORT},
      {"from", Parser::IMPORT},    {"mesh", Parser::PARALLEL}, {"run", Parser::TRAIN},
      {"include", Parser::IMPORT}, {"var", Parser::LET},       {"const", Parser::LET},
      {"weight", Parser::PARAM},   {"dim", Parser::DIMS},      {"switch", Parser::MATCH},
  };
  for (const auto &[theirs, ours] : foreign)
    if (word == theirs && ours >= first && ours <= last)
      return std::string(fixedSpelling(ours));
  std::vector<std::string> keywords;
  for (uint32_t type = first; type <= last; ++type)
    if (fixedSpelling(type) != word) // if equal, the context made the keyword a name
      keywords.emplace_back(fixedSpelling(type));
  return nearestWord(word, keywords);
}

bool isLoop(const std::string &word) {
  return word == "for" || word == "while" || word == "loop";
}

} // namespace

/// Adds suggestions for the probable intention.
void Recovery::addHints(Diagnostic &diagnostic, size_t index, const Expectation &expected) const {
  const Token &token = prepared.tokens[index];
  bool afterComma = index > 0 && prepared.tokens[index - 1].is(Parser::COMMA);
  if (token.is(Parser::STORES) && afterComma) {
    diagnostic.fix(getLocation(index - 1), "");
    return;
  }
  bool declares = token.type >= Parser::IMPORT && token.type <= Parser::TRAIN;
  if (declares && expected.rules.count(Parser::RuleStatement)) {
    diagnostic.help("write a declaration outside of all others");
    return;
  }
  if (const char *remedy = remedyInDims(index, expected)) {
    diagnostic.help(remedy);
    return;
  }
  const bool namesLoss = index > 0 && index - 1 == entryStart(index) && text(index - 1) == "loss";
  if (isKeyword(token.type) && (namesLoss || (!isConnective(token) && expected.expectsName()))) {
    diagnostic.help("`" + text(index) + "` is a keyword, so it cannot be a name");
    return;
  }
  if (token.is(Parser::EQ) && expected.tokens.count(Parser::ASSIGN)) {
    diagnostic.fix(getLocation(index), "=");
    return;
  }
  if (token.is(Parser::ASSIGN) && prepared.tokens[entryStart(index)].is(Parser::IF)) {
    diagnostic.fix(getLocation(index), "==");
    return;
  }
  if (token.is(Parser::COLON) && prepared.tokens[entryStart(index)].is(Parser::IF)) {
    diagnostic.help("write the body of an `if` in braces");
    return;
  }
  if (token.is(Parser::COLON) && expected.tokens.count(Parser::ASSIGN) &&
      expected.rules.count(Parser::RuleSettings)) {
    diagnostic.fix(getLocation(index), "=");
    return;
  }
  if (const char *remedy = remedyIn(entryStart(index), index)) {
    diagnostic.help(remedy);
    return;
  }
  uint32_t before = index > 0 ? prepared.tokens[index - 1].type : Token::endOfFile;
  uint32_t after = token.is(Token::endOfFile) ? token.type : prepared.tokens[index + 1].type;
  if (const char *remedy = remedyFor(before, token.type, after)) {
    diagnostic.help(remedy);
    return;
  }
  if (addBracesHint(diagnostic, index, expected) || addWordHint(diagnostic, index, expected))
    return;
  if (token.is(Parser::ASSIGN) && isInAxis(index))
    diagnostic.help("write every axis on its own line");
}

/// A size, or an index of a shape, where a dimension is named.
const char *Recovery::remedyInDims(size_t index, const Expectation &expected) const {
  const Token &first = prepared.tokens[entryStart(index)], &here = prepared.tokens[index];
  const bool declares = first.isOneOf(Parser::PARAM, Parser::BUFFER, Parser::INPUT);
  const Token &before = index > 0 ? prepared.tokens[index - 1] : here;
  if (here.is(Parser::INT) && declares && expected.rules.count(Parser::RuleDimName))
    return "a size is the name of a dimension: declare `dims wide = 4 * embed` in front, and write "
           "`[embed, wide]`";
  if (here.is(Parser::INT) && before.is(Parser::LBRACKET) && index > 1 &&
      text(index - 2) == "shape")
    return "the name of a dimension is its size: `embed / 2`";
  if (here.is(Parser::COMMA) && first.isOneOf(Parser::PARAM, Parser::BUFFER) &&
      !expected.rules.count(Parser::RuleDimName) && !expected.rules.count(Parser::RuleFormal))
    return "write each declaration on its own line";
  return nullptr;
}

const char *Recovery::remedyIn(size_t start, size_t index) const {
  const Token &first = prepared.tokens[start], &here = prepared.tokens[index];
  if (text(index) == "for" && index > start + 1)
    return "a list of numbers is computed from a range: `2 * range(3)` is `[0, 2, 4]`";
  if (index > 0 && text(index - 1) == "lambda")
    return "a function is declared, `fn f(x) = ...`, or leaves an argument open: `f(_, 2)`";
  if (text(start) == "loss" && index == start + 1 && here.is(Parser::DOT))
    return "the compiler computes the gradient of `loss = ...`, and the run takes the steps: leave "
           "it out";
  const bool followsName = index == start + 2;
  if (first.is(Parser::TRAIN) && here.is(Parser::ON) && followsName)
    return "the map follows the model: `train NAME = MODEL on MAP { ... }`";
  if (first.isOneOf(Parser::PARAM, Parser::BUFFER) && here.is(Parser::LPAREN) && followsName)
    return "write dimensions in brackets: `param up[embed, ffn]`";
  if (here.is(Parser::STAR) && (text(start) == "group" || text(start) == "parameters"))
    return "write a pattern in quotes: `group \"*norm\" { ... }`";
  return nullptr;
}

/// Suggests a keyword for a mistyped or foreign one.
bool Recovery::addWordHint(Diagnostic &diagnostic, size_t index,
                           const Expectation &expected) const {
  if (text(index) == "elif" || text(entryStart(index)) == "elif") {
    diagnostic.help("write `} else if c {`, on the line of the brace before it");
    return true;
  }
  std::vector<std::string> wanted; // in the middle of a statement
  for (size_t type : expected.tokens)
    if (isKeyword(static_cast<uint32_t>(type)) && prepared.tokens[index].is(Parser::IDENT))
      wanted.emplace_back(fixedSpelling(static_cast<uint32_t>(type)));
  if (expected.rules.count(Parser::RuleStoredKind))
    wanted.insert(wanted.end(), storedKinds().begin(), storedKinds().end());
  if (std::string meant = nearestWord(text(index), wanted); !meant.empty()) {
    diagnostic.fix(getLocation(index), meant);
    return true;
  }
  // A misspelt keyword at the start of a statement was taken for a name.
  size_t first = entryStart(index);
  if (index - first > 1 || !prepared.tokens[first].is(Parser::IDENT) ||
      expected.rules.count(Parser::RuleSettings))
    return false;
  bool declares = expected.rules.count(Parser::RuleDeclaration) != 0;
  if (!declares && isLoop(text(first))) {
    diagnostic.help("write repeated layers as `repeat layers as l { ... }`");
    return true;
  }
  std::string keyword = declares ? keywordFor(text(first), Parser::IMPORT, Parser::TRAIN)
                                 : keywordFor(text(first), Parser::DIMS, Parser::IF);
  bool isCall = prepared.tokens[index].is(Parser::LPAREN) && index > first;
  if (std::string help = foreignHelp(text(first)); isCall && !declares && !help.empty()) {
    diagnostic.help(std::move(help));
    return true;
  }
  if (!keyword.empty())
    diagnostic.fix(getLocation(first), keyword);
  else if (isCall && !declares)
    diagnostic.help("assign the result of a call to a name: `let y = " + text(first) + "(...)`");
  return !keyword.empty() || (isCall && !declares);
}

/// Whether a token is inside of an axis, after its lists.
bool Recovery::isInAxis(size_t index) const {
  for (size_t i = entryStart(index); i < index; ++i)
    if (prepared.tokens[i].isOneOf(Parser::SPLITS, Parser::STORES))
      return true;
  return false;
}

/// The first token of the statement of a token.
size_t Recovery::entryStart(size_t index) const {
  while (index > 0 && !prepared.tokens[index - 1].isOneOf(Parser::NEWLINE, Parser::SEMI,
                                                          Parser::LBRACE, Parser::RBRACE))
    --index;
  return index;
}

} // namespace titan::syntax
