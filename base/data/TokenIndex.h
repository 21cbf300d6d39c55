// The index of a token file, as Megatron-LM writes it: PREFIX.idx says how the bytes of PREFIX.bin
// are cut into sequences and documents. All numbers are little-endian and nothing is aligned:
//
//   char[9] "MMIDIDX\0\0", u64 version (1), u8 type of a token, u64 sequences, u64 documents,
//   i32 lengths[sequences], i64 offsets in bytes[sequences], i64 first sequences[documents],
//   perhaps i8 modes[sequences]
//
// Source: megatron/core/datasets/indexed_dataset.py of Megatron-LM.
//
// Errors: UserError naming file and reason. What was checked may be read without a look: sequences
// lie one behind the other and fill the file of tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace titan {

/// How a token is stored. The values are the file's.
enum class TokenType : uint8_t { U8 = 1, I8 = 2, I16 = 3, I32 = 4, I64 = 5, U16 = 8 };

struct TokenIndex {
  TokenType type;
  int64_t tokens, sequences, documents;
};

/// Bytes of a token.
int64_t widthOf(TokenType type);

/// What an index says, when all of it was checked. `tokenBytes` is the size of the file of tokens;
/// `prefix` stands in errors.
TokenIndex readTokenIndex(std::span<const std::byte> index, uint64_t tokenBytes,
                          const std::string &prefix);

/// Where a document begins among the tokens, in an index that was checked; behind the last one's
/// sequences, the number of tokens.
int64_t documentStart(std::span<const std::byte> index, const TokenIndex &what, int64_t document);

/// The part of the path that both files share, where any of the two or that part is named.
inline std::string tokenFilePrefix(const std::string &path) {
  for (const char *ending : {".idx", ".bin"})
    if (path.ends_with(ending))
      return path.substr(0, path.size() - 4);
  return path;
}

} // namespace titan
