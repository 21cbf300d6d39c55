#include "compiler/syntax/Token.h"

#include "TitanLexer.h"

namespace titan::syntax {
namespace {

/// Feeds bytes to the generated lexer unchanged: token positions are then byte offsets, and text
/// that is not UTF-8 cannot make the stream throw.
class ByteStream : public antlr4::ANTLRInputStream {
public:
  explicit ByteStream(std::string_view source) {
    _data.reserve(source.size());
    for (char c : source)
      _data.push_back(static_cast<unsigned char>(c));
  }
};

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
