// The tokens of a file as plain data, between the generated lexer and the generated parser. Token
// preparation and the formatter use these and not the classes of the generator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace titan::syntax {

/// `type` is one of the generated lexer's token types (TitanLexer::IDENT, ...), or `endOfFile`.
struct Token {
  static constexpr uint32_t endOfFile = UINT32_MAX;
  static constexpr uint32_t noPartner = UINT32_MAX;

  uint32_t type = endOfFile;
  uint32_t offset = 0; // bytes
  uint32_t length = 0;
  uint32_t partner = noPartner; // index of the matching bracket; set by prepareTokens()
  bool inserted = false;        // by prepareTokens(), to repair or to end a statement

  bool is(uint32_t t) const { return type == t; }
  template <typename... Types> bool isOneOf(Types... types) const {
    return (... || (type == static_cast<uint32_t>(types)));
  }
  uint32_t end() const { return offset + length; }
  std::string_view text(std::string_view source) const { return source.substr(offset, length); }
};

/// The maximum number of tokens and comments in a file; ten times the largest hand-written program.
constexpr size_t maxTokens = 500'000;

/// All tokens in order, including comments and line ends, and a final `endOfFile`. Stops at
/// `maxTokens`, which prepareTokens() reports. Invalid text becomes OPEN_STRING or STRAY; adjacent
/// STRAY bytes form one token.
std::vector<Token> lex(std::string_view source);

bool isKeyword(uint32_t type);
/// The spelling of a token type, e.g. "let" or "->"; empty for types without a fixed spelling.
std::string_view fixedSpelling(uint32_t type);

} // namespace titan::syntax
