#include "compiler/syntax/Token.h"

#include "TitanLexer.h"

namespace titan::syntax {
namespace {

constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";

/// Feeds bytes to the generated lexer, so token positions are byte offsets, and invalid UTF-8
/// cannot throw. The grammar treats all bytes beyond ASCII alike: text of a comment or string, or a
/// stray character. They are mapped to one character in the cache of the lexer, which is a hundred
/// times faster.
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

/// Whether a token ends an operand. A word that follows it on the same line is no name.
bool isOperandEnd(const Token &t) {
  return t.isOneOf(TitanLexer::IDENT, TitanLexer::INT, TitanLexer::FLOAT, TitanLexer::STRING,
                   TitanLexer::TRUE, TitanLexer::FALSE, TitanLexer::NONE, TitanLexer::RPAREN,
                   TitanLexer::RBRACKET);
}

/// These words begin a statement or a declaration where a name follows on the same line, as nothing
/// else does; anywhere else they are names. `weights` precedes a string, `default` such a word, or
/// like `for` and `unless` follows an operand; `data` is between `default` and a brace.
bool isNameAfterAll(const Token &previous, const Token &word, const Token &next) {
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
  for (size_t taken = 0; taken < maxTokens;) {
    std::unique_ptr<antlr4::Token> made = lexer.nextToken();
    if (made->getType() == antlr4::Token::EOF)
      break;
    Token token;
    token.type = static_cast<uint32_t>(made->getType());
    token.offset = static_cast<uint32_t>(made->getStartIndex());
    token.length = static_cast<uint32_t>(made->getStopIndex() - made->getStartIndex() + 1);
    taken += !token.is(TitanLexer::NEWLINE);
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
  for (size_t i = tokens.size() - 1; i-- > 0;) // from the end: what follows may be a name after all
    if (isNameAfterAll(i ? tokens[i - 1] : Token(), tokens[i], tokens[i + 1]))
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
