// Implements Token.h: the generated lexer, and keywords that are names in their context.
#include "compiler/syntax/Token.h"

#include "TitanLexer.h"

namespace titan::syntax {
namespace {

constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";

/// Feeds bytes to the generated lexer, so token positions are byte offsets, and invalid UTF-8
/// cannot throw. To the grammar all bytes beyond ASCII are equal: text of a comment or string, or a
/// stray character. They are mapped to 0x7f, the last character that the lexer caches, which is a
/// hundred times faster.
class ByteStream : public antlr4::ANTLRInputStream {
public:
  explicit ByteStream(std::string_view source) {
    _data.reserve(source.size());
    size_t mark =
        source.substr(0, byteOrderMark.size()) == byteOrderMark ? byteOrderMark.size() : 0;
    for (size_t i = 0; i < source.size(); ++i) {
      auto byte = static_cast<unsigned char>(source[i]);
      _data.push_back(byte < 0x80 || i < mark ? byte : 0x7f);
    }
  }
};

/// Whether a token ends an operand. No name follows it on the same line.
bool isOperandEnd(const Token &t) {
  return t.isOneOf(TitanLexer::IDENT, TitanLexer::INT, TitanLexer::FLOAT, TitanLexer::STRING,
                   TitanLexer::TRUE, TitanLexer::FALSE, TitanLexer::NONE, TitanLexer::RPAREN,
                   TitanLexer::RBRACKET);
}

/// Whether a token with a keyword's text is a name in its context. Keywords of the last case begin
/// a statement or declaration, with a name after them on the same line. `weights` precedes a
/// string, and `data` is between `default` and a brace. `for` and `unless` follow an operand.
/// `default` follows one, too, or precedes `optimizer`, `schedule` or `data`.
bool isOrdinaryName(const Token &previous, const Token &word, const Token &next) {
  switch (word.type) {
  case TitanLexer::DEFAULT:
    return !next.isOneOf(TitanLexer::OPTIMIZER, TitanLexer::SCHEDULE, TitanLexer::DATA) &&
           !isOperandEnd(previous);
  case TitanLexer::DATA:
    return !previous.is(TitanLexer::DEFAULT) || !next.is(TitanLexer::LBRACE);
  case TitanLexer::WEIGHTS:
    return !next.is(TitanLexer::STRING);
  case TitanLexer::FOR:
  case TitanLexer::UNLESS:
    return !isOperandEnd(previous);
  case TitanLexer::CONFIG:
    return !next.isOneOf(TitanLexer::IDENT, TitanLexer::STRING);
  case TitanLexer::BUFFER:
  case TitanLexer::UPDATE:
  case TitanLexer::LOSS:
  case TitanLexer::METRIC:
  case TitanLexer::OPTIMIZER:
  case TitanLexer::SCHEDULE:
  case TitanLexer::STATE:
  case TitanLexer::OPTION:
  case TitanLexer::OPTIONAL:
  case TitanLexer::IGNORE:
  case TitanLexer::TRAINING:
    return !next.is(TitanLexer::IDENT);
  default:
    return false;
  }
}

} // namespace

std::vector<Token> lex(std::string_view source) {
  ByteStream stream(source);
  TitanLexer lexer(&stream);
  lexer.removeErrorListeners(); // STRAY takes every byte, so the lexer itself never fails
  std::vector<Token> tokens;
  for (size_t count = 0; count < maxTokens;) {
    std::unique_ptr<antlr4::Token> made = lexer.nextToken();
    if (made->getType() == antlr4::Token::EOF)
      break;
    Token token;
    token.type = static_cast<uint32_t>(made->getType());
    token.offset = static_cast<uint32_t>(made->getStartIndex());
    token.length = static_cast<uint32_t>(made->getStopIndex() - made->getStartIndex() + 1);
    count += !token.is(TitanLexer::NEWLINE);
    bool joins = token.is(TitanLexer::STRAY) && !tokens.empty() &&
                 tokens.back().is(TitanLexer::STRAY) && tokens.back().end() == token.offset;
    if (joins)
      tokens.back().length += token.length;
    else
      tokens.push_back(token);
  }
  Token end;
  end.offset = static_cast<uint32_t>(source.size());
  tokens.push_back(end);
  for (size_t i = tokens.size() - 1; i-- > 0;) // from the end: the next token may become a name
    if (isOrdinaryName(i ? tokens[i - 1] : Token(), tokens[i], tokens[i + 1]))
      tokens[i].type = TitanLexer::IDENT;
  return tokens;
}

bool isKeyword(uint32_t type) {
  return type >= TitanLexer::IMPORT && type <= TitanLexer::NONE;
}

std::string_view fixedSpelling(uint32_t type) {
  if (type < TitanLexer::IMPORT || type > TitanLexer::RBRACE)
    return {};
  static const std::vector<std::string> spellings = [] {
    ByteStream none("");
    TitanLexer lexer(&none);
    std::vector<std::string> all;
    for (size_t t = 0; t <= TitanLexer::RBRACE; ++t) {
      std::string quoted = lexer.getVocabulary().getLiteralName(t);
      all.push_back(quoted.size() < 2 ? "" : quoted.substr(1, quoted.size() - 2));
    }
    return all;
  }();
  return spellings[type];
}

} // namespace titan::syntax
