// Records that ranks compare before training, digests of files, and signatures of collectives.
#include "comm/CallSignature.h"

#include "comm/RankRecord.h"
#include "files/FileDigest.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

using namespace titan;
using namespace titan::rt;

namespace {

RankRecord makeRecord(std::vector<RankRecord::Field> fields) {
  return {std::move(fields), "process 7 on host", "10.0.0.1", ""};
}

// Encoding and decoding preserve any record.
TEST(RankRecord, IsDecodedAsEncoded) {
  RankRecord record = makeRecord({{"optimizer.lr", "0.001"},
                                  {"data.path", "a\tb\nc\\n\\"},
                                  {"empty", ""},
                                  {"odd\nname", std::string("\0\x7f", 2)}});
  record.mistake = "no such\nsetting";
  auto received = decodeRecord(encodeRecord(12, record));
  ASSERT_TRUE(received);
  EXPECT_EQ(received->rank, 12);
  EXPECT_EQ(received->record.process, record.process);
  EXPECT_EQ(received->record.address, record.address);
  EXPECT_EQ(received->record.mistake, record.mistake);
  ASSERT_EQ(received->record.fields.size(), record.fields.size());
  for (size_t i = 0; i < record.fields.size(); ++i) {
    EXPECT_EQ(received->record.fields[i].name, record.fields[i].name);
    EXPECT_EQ(received->record.fields[i].value, record.fields[i].value);
  }
}

// Untrusted text is rejected or decoded, without a crash.
TEST(RankRecord, RefusesInvalidText) {
  for (const char *text :
       {"", "\n", "GET / HTTP/1.1\r\n\r\n", "titan rank record 2\n1\n\n\n\n",
        "titan rank record 1\n", "titan rank record 1\n1\n\n\n", "titan rank record 1\n-1\n\n\n\n",
        "titan rank record 1\n1x\n\n\n\n", "titan rank record 1\n99999999999\n\n\n\n",
        "titan rank record 1\n1\n\n\n\nno tab\n", "titan rank record 1\n1\n\n\n\nno\tend"})
    EXPECT_FALSE(decodeRecord(text)) << text;
  EXPECT_FALSE(decodeRecord("titan rank record 1\n1\n\n\n\n" + std::string(2 << 20, '\n')));
  std::string whole = encodeRecord(1, makeRecord({{"a", "1"}, {"b", "2"}}));
  std::mt19937 random(1);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = whole.substr(0, random() % (whole.size() + 1));
    for (int flips = random() % 4; flips > 0 && !text.empty(); --flips)
      text[random() % text.size()] = static_cast<char>(random());
    auto received = decodeRecord(text);
    EXPECT_TRUE(!received || received->rank >= 0);
  }
}

// A difference is described by field, with each value and its ranks.
TEST(RankRecord, NamesDifferentFields) {
  const RankRecord usual = makeRecord({{"optimizer.lr", "0.001"}, {"seed", "0"}});
  EXPECT_EQ(describeDifferences({{0, usual}, {1, usual}}), "");
  EXPECT_EQ(
      describeDifferences({{0, usual}, {1, makeRecord({{"optimizer.lr", "0.1"}, {"seed", "0"}})}}),
      "optimizer.lr: 0.001 on rank 0, 0.1 on rank 1");
  const RankRecord other = makeRecord({{"optimizer.lr", "0.001"}, {"seed", "5"}});
  EXPECT_EQ(describeDifferences({{0, usual}, {1, other}, {2, usual}, {3, other}}),
            "seed: 0 on ranks 0, 2, 5 on ranks 1, 3");
  EXPECT_EQ(describeDifferences({{0, usual}, {2, makeRecord({{"optimizer.lr", "0.001"}})}}),
            "seed: 0 on rank 0, not known on rank 2");
  EXPECT_EQ(describeDifferences(
                {{0, makeRecord({{"--prompt", ""}})}, {1, makeRecord({{"--prompt", "a\nb"}})}}),
            "--prompt: nothing on rank 0, a b on rank 1");
}

// Process and address are not compared.
TEST(RankRecord, DoesNotCompareProcesses) {
  RankRecord one = makeRecord({{"seed", "0"}}), other = one;
  other.process = "process 8 on another";
  other.address = "10.0.0.2";
  EXPECT_EQ(describeDifferences({{0, one}, {1, other}}), "");
}

// An error of one rank is described instead of its missing fields; a common error is no difference.
TEST(RankRecord, DescribesMistakes) {
  RankRecord good = makeRecord({{"seed", "0"}}), bad;
  bad.mistake = "there is no option `x`";
  EXPECT_EQ(describeDifferences({{0, good}, {1, bad}}),
            "rank 1 cannot start: there is no option `x`");
  EXPECT_EQ(describeDifferences({{0, bad}, {1, good}}),
            "rank 0 cannot start: there is no option `x`");
  EXPECT_EQ(describeDifferences({{0, bad}, {1, bad}}), "");
}

// Many fields and long values are truncated in the message.
TEST(RankRecord, ShowsSomeOfMany) {
  std::vector<RankRecord::Field> one, other;
  for (int i = 0; i < 100; ++i) {
    one.push_back({"field " + std::to_string(i), std::string(10000, 'a')});
    other.push_back({"field " + std::to_string(i), std::string(10000, 'b')});
  }
  std::string text = describeDifferences({{0, makeRecord(one)}, {1, makeRecord(other)}});
  EXPECT_LT(text.size(), 5000u);
  EXPECT_NE(text.find("field 0: aaa"), std::string::npos);
  EXPECT_NE(text.find("and 92 more"), std::string::npos);
}

class FileDigest : public testing::Test {
protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string digest(const std::string &bytes) {
    std::ofstream(folder / "file", std::ios::binary) << bytes;
    return computeDigest((folder / "file").string());
  }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("titan-digest-" + std::to_string(getpid()));
};

// The digest covers all bytes of small files, and samples and the size of large ones.
TEST_F(FileDigest, DiffersBetweenFiles) {
  EXPECT_EQ(digest("123456789"), "9 bytes, CRC-32C e3069283"); // the published check value
  EXPECT_NE(digest("123456789"), digest("123456788"));
  std::string large(40 << 20, 'x');
  const std::string before = digest(large);
  EXPECT_NE(before.find("of samples"), std::string::npos);
  EXPECT_NE(digest(large + "x"), before);
  for (size_t position : {size_t{0}, size_t{100}, large.size() - 1}) {
    std::string changed = large;
    changed[position] = 'y';
    EXPECT_NE(digest(changed), before) << position;
  }
  std::string shuffled = large;
  for (size_t i = 0; i < shuffled.size(); i += 1000)
    shuffled[i] = 'z';
  EXPECT_NE(digest(shuffled), before);
}

TEST_F(FileDigest, NamesUnreadableFiles) {
  EXPECT_EQ(computeDigest((folder / "none").string()), "cannot be read: No such file or directory");
  EXPECT_EQ(computeDigest("/dev/null"), "is not a regular file");
  digest("a");
  const std::string one = computeDigest(folder.string());
  EXPECT_TRUE(one.starts_with("1 files"));
  digest("b");
  EXPECT_NE(computeDigest(folder.string()), one);
}

// The hash depends on every property of a call, but not on the addresses of literals.
TEST(CallSignature, SignaturesDiffer) {
  const CallSignature call{"all_reduce", {"all_reduce", "model.titan:14"}, 4096, DType::F32, 0};
  std::string elsewhere = "model.titan:14";
  CallSignature same = call;
  same.site.source = elsewhere.c_str();
  EXPECT_EQ(computeHash(call), computeHash(same));
  std::vector<CallSignature> others(6, call);
  others[0].operation = "all_gather";
  others[1].site.action = "agreement to stop";
  others[2].site.source = "model.titan:15";
  others[3].bytes = 4100;
  others[4].type = DType::BF16;
  others[5].detail = 1;
  for (const CallSignature &other : others) {
    EXPECT_NE(computeHash(call), computeHash(other));
    EXPECT_NE(computeHash(call) >> 33, computeHash(other) >> 33); // as messages carry it
  }
}

} // namespace
