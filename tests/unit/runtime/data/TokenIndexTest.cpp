// Tokens with an index in Megatron-LM's format, valid and damaged.
#include "base/data/TokenIndex.h"
#include "base/Error.h"
#include "data/TokenStream.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

using Bytes = std::vector<std::byte>;

template <class T> void append(Bytes &bytes, T value) {
  const auto *from = reinterpret_cast<const std::byte *>(&value);
  bytes.insert(bytes.end(), from, from + sizeof(T));
}

/// An index in Megatron-LM's format. Tests modify it before `build`.
struct Index {
  std::string magic = std::string("MMIDIDX\0\0", 9);
  uint64_t version = 1;
  uint8_t type = static_cast<uint8_t>(TokenType::U16);
  std::vector<int32_t> lengths = {3, 0, 4};
  std::vector<int64_t> offsets = {0, 6, 6}, documents = {0, 1, 3};
  uint64_t sequences = 3;

  Bytes build() const {
    Bytes bytes;
    for (char c : magic)
      append(bytes, c);
    append(bytes, version);
    append(bytes, type);
    append(bytes, sequences);
    append(bytes, static_cast<uint64_t>(documents.size()));
    for (int32_t length : lengths)
      append(bytes, length);
    for (int64_t offset : offsets)
      append(bytes, offset);
    for (int64_t document : documents)
      append(bytes, document);
    return bytes;
  }
};

constexpr uint64_t kTokenBytes = 14; // of the index above

std::string findMistake(const Bytes &bytes, uint64_t tokenBytes = kTokenBytes) {
  try {
    readTokenIndex(bytes, tokenBytes, "corpus");
  } catch (const UserError &error) {
    return error.what();
  }
  return "";
}

TEST(TokenIndex, CountsSequencesAndTokens) {
  TokenIndex index = readTokenIndex(Index().build(), kTokenBytes, "corpus");
  EXPECT_EQ(index.type, TokenType::U16);
  EXPECT_EQ(index.tokens, 7);
  EXPECT_EQ(index.sequences, 3);
  EXPECT_EQ(index.documents, 3);
}

// Files of several kinds of data end with a mode for each sequence.
TEST(TokenIndex, AllowsModesAfterDocuments) {
  Bytes bytes = Index().build();
  bytes.resize(bytes.size() + 3);
  EXPECT_EQ(findMistake(bytes), "");
}

TEST(TokenIndex, NamesTheError) {
  auto expect = [](auto spoil, const std::string &words, uint64_t tokenBytes = kTokenBytes) {
    Index index;
    spoil(index);
    const std::string mistake = findMistake(index.build(), tokenBytes);
    EXPECT_TRUE(mistake.starts_with("'corpus.idx' ")) << mistake;
    EXPECT_NE(mistake.find(words), std::string::npos) << mistake;
  };
  expect([](Index &i) { i.magic[0] = 'm'; }, "does not begin with MMIDIDX");
  expect([](Index &i) { i.version = 2; }, "has version 2");
  expect([](Index &i) { i.type = 7; }, "floating-point numbers (type 7)");
  expect([](Index &i) { i.type = 9; }, "the unknown token type 9");
  expect([](Index &i) { i.sequences = 4; }, "lists 4 sequences and 3 documents, but ends after");
  expect([](Index &i) { i.sequences = uint64_t(1) << 63; }, "9223372036854775808 sequences");
  expect([](Index &i) { i.lengths[2] = -4; }, "gives sequence 2 the length -4");
  expect([](Index &i) { i.offsets[2] = 4; },
         "sequence 2 at byte 4, but the sequences before it end");
  expect([](Index &i) { i.offsets[1] = 8; }, "sequence 1 at byte 8");
  expect([](Index &i) { i.offsets[0] = -2; }, "sequence 0 at byte -2");
  expect([](Index &i) { i.lengths[2] = 0x7fffffff; }, "'corpus.bin' has 14 bytes");
  expect([](Index &) {}, "lists 14 bytes of tokens, but 'corpus.bin' has 16", 16);
  expect([](Index &) {}, "sequence 2 at byte 14, but 'corpus.bin' has 13 bytes", 13);
  expect([](Index &i) { i.documents[1] = 4; },
         "sequence 4 as the start of document 1; expected 0 to 3");
  expect([](Index &i) { i.documents = {0, 2, 1}; }, "sequence 1 as the start of document 2");
  // Lists that do not cover the file, as after a merge that forgot the documents.
  expect([](Index &i) { i.documents = {0, 2}; },
         "sequence 2 as the end of the documents, but has 3");
  expect([](Index &i) { i.documents = {0}; }, "sequence 0 as the end of the documents, but has 3");
  expect([](Index &i) { i.documents = {1, 2, 3}; }, "sequence 1 instead of 0");
  expect([](Index &i) { i.documents = {-1, 3}; }, "sequence -1 instead of 0");
  expect([](Index &i) { i.documents = {}; }, "lists no documents");
}

// Trailing bytes are modes, one per sequence, or an error.
TEST(TokenIndex, RefusesOtherBytesAfterDocuments) {
  for (size_t more : {1, 2, 4, 8}) {
    Bytes bytes = Index().build();
    bytes.resize(bytes.size() + more);
    EXPECT_NE(findMistake(bytes).find("3 sequences and 3 documents, which end at byte"),
              std::string::npos)
        << more;
  }
}

TEST(TokenIndex, NoticesEveryCut) {
  const Bytes whole = Index().build();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(findMistake(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size))), "")
        << size;
}

// If changed bytes are accepted, the token file can satisfy them.
TEST(TokenIndex, ChecksChangedBytes) {
  std::mt19937 random(7);
  const Bytes whole = Index().build();
  for (int round = 0; round < 50'000; ++round) {
    Bytes bytes = whole;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    try {
      TokenIndex index = readTokenIndex(bytes, kTokenBytes, "corpus");
      EXPECT_EQ(index.tokens * getByteSize(index.type), static_cast<int64_t>(kTokenBytes));
    } catch (const UserError &) {
    }
  }
}

class IndexedTokens : public testing::Test {
protected:
  IndexedTokens()
      : prefix(std::filesystem::temp_directory_path() /
               ("titan-indexed-" + std::to_string(::getpid()))) {}
  ~IndexedTokens() override {
    for (const char *ending : {".idx", ".bin"})
      std::filesystem::remove(prefix + ending);
  }

  template <class T> void write(TokenType type, const std::vector<T> &tokens) {
    Index index;
    index.type = static_cast<uint8_t>(type);
    index.lengths = {static_cast<int32_t>(tokens.size())};
    index.offsets = {0};
    index.documents = {0, 1};
    index.sequences = 1;
    write(index, tokens);
  }

  template <class T> void write(const Index &index, const std::vector<T> &tokens) {
    const Bytes bytes = index.build();
    std::ofstream(prefix + ".idx", std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), static_cast<long>(bytes.size()));
    std::ofstream(prefix + ".bin", std::ios::binary)
        .write(reinterpret_cast<const char *>(tokens.data()),
               static_cast<long>(tokens.size() * sizeof(T)));
  }

  template <class T> void readsBack(TokenType type, int64_t vocabulary) {
    const std::vector<T> tokens = {0, 1, std::numeric_limits<T>::max(), 5, 100};
    write(type, tokens);
    for (const char *ending : {"", ".idx", ".bin"}) {
      auto stream = openIndexedTokens(prefix + ending);
      ASSERT_EQ(stream->size(), 5);
      EXPECT_EQ(stream->vocabulary(), vocabulary);
      std::vector<int64_t> read(4);
      stream->read(1, 4, read.data());
      EXPECT_EQ(read, std::vector<int64_t>(tokens.begin() + 1, tokens.end()));
    }
  }

  std::string prefix;
};

TEST_F(IndexedTokens, ReadsEveryType) {
  readsBack<uint8_t>(TokenType::U8, 1 << 8);
  readsBack<int8_t>(TokenType::I8, 1 << 7);
  readsBack<int16_t>(TokenType::I16, 1 << 15);
  readsBack<uint16_t>(TokenType::U16, 1 << 16);
  readsBack<int32_t>(TokenType::I32, int64_t(1) << 31);
  readsBack<int64_t>(TokenType::I64, std::numeric_limits<int64_t>::max());
}

// Empty documents start where the next one does; after the last document there is none.
TEST_F(IndexedTokens, FindsDocuments) {
  Index index; // 7 tokens in sequences of 3, 0 and 4
  index.documents = {0, 1, 1, 2, 3};
  write(index, std::vector<uint16_t>(7));
  auto stream = openIndexedTokens(prefix);
  for (int64_t position = 0; position < 7; ++position)
    EXPECT_EQ(stream->nextDocument(position), position < 3 ? 3 : 7) << position;
  std::vector<std::pair<int64_t, int64_t>> documents;
  stream->forEachDocument(
      [&](int64_t first, int64_t tokens) { documents.push_back({first, tokens}); });
  EXPECT_EQ(documents, (std::vector<std::pair<int64_t, int64_t>>{{0, 3}, {3, 0}, {3, 0}, {3, 4}}));
}

TEST_F(IndexedTokens, NamesTheFileThatIsMissing) {
  for (const char *missing : {".bin", ".idx"}) {
    write<uint16_t>(TokenType::U16, {1, 2});
    std::filesystem::remove(prefix + missing);
    try {
      openIndexedTokens(prefix);
      FAIL() << "expected an error";
    } catch (const UserError &error) {
      EXPECT_NE(std::string(error.what()).find(prefix + missing), std::string::npos)
          << error.what();
    }
  }
}

} // namespace
