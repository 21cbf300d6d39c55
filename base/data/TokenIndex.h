// The index of a token file in Megatron-LM's format: PREFIX.idx divides the bytes of PREFIX.bin
// into sequences and documents. All numbers are little-endian and unaligned:
//
//   char[9] "MMIDIDX\0\0", u64 version (1), u8 token type, u64 sequences, u64 documents,
//   i32 lengths[sequences], i64 offsets in bytes[sequences], i64 first sequences[documents],
//   optional i8 modes[sequences]
//
// Source: megatron/core/datasets/indexed_dataset.py of Megatron-LM.
//
// Errors: UserError naming file and reason. A checked index can be used without further checks:
// sequences are contiguous and fill the token file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace titan {

/// The storage type of tokens, with the values of the format.
enum class TokenType : uint8_t { U8 = 1, I8 = 2, I16 = 3, I32 = 4, I64 = 5, U16 = 8 };

struct TokenIndex {
  TokenType type;
  int64_t tokens, sequences; ///< their numbers
  int64_t documents;         ///< the number of entries: those of all documents, and their end
};

/// Bytes of a token.
int64_t getByteSize(TokenType type);

/// Checks and reads an index. `tokenBytes` is the size of the token file; errors name `prefix`.
TokenIndex readTokenIndex(std::span<const std::byte> index, uint64_t tokenBytes,
                          const std::string &prefix);

/// The first token of a document, in the bytes of a checked index; for one past the last document,
/// the number of tokens.
int64_t documentStart(std::span<const std::byte> bytes, const TokenIndex &index, int64_t document);

/// The prefix of the two file names, given either file or the prefix.
inline std::string tokenFilePrefix(const std::string &path) {
  for (const char *ending : {".idx", ".bin"})
    if (path.ends_with(ending))
      return path.substr(0, path.size() - 4);
  return path;
}

} // namespace titan
