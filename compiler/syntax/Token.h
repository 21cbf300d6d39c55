// The tokens of a file as plain data, between the generated lexer and the generated parser: layout
// and formatter work on these, and never see the generator's classes.
#ifndef TITAN_COMPILER_SYNTAX_TOKEN_H
#define TITAN_COMPILER_SYNTAX_TOKEN_H

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

/// The most tokens and comments one file may have; ten times the largest program that a person
/// would write.
constexpr size_t maxTokens = 500'000;

/// All tokens in order, comments and every line end included, closed by one `endOfFile`. Stops at
/// `maxTokens`, which prepareTokens() reports.
/// Text that is no token comes as OPEN_STRING or STRAY; adjacent STRAY bytes are one token.
std::vector<Token> lex(std::string_view source);

bool isKeyword(uint32_t type);
/// How a token type is written, e.g. "let" or "->"; empty for those without a fixed spelling.
std::string_view fixedSpelling(uint32_t type);

} // namespace titan::syntax

#endif
