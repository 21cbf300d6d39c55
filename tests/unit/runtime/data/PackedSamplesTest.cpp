// Samples that are packed from complete documents.
#include "data/PackedSamples.h"
#include "base/Error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

using namespace titan;
using namespace titan::rt;

namespace {

using Row = std::vector<int64_t>;

/// Documents of these lengths; token i of the stream is i.
class Documents final : public TokenStream {
public:
  explicit Documents(const Row &lengths) {
    for (int64_t length : lengths)
      starts.push_back(starts.back() + length);
  }
  int64_t size() const override { return starts.back(); }
  int64_t leastToken() const override { return 0; }
  int64_t vocabulary() const override { return size(); }
  void read(int64_t first, int64_t count, int64_t *out) const override {
    ASSERT_LE(first + count, size());
    std::iota(out, out + count, first);
  }
  int64_t nextDocument(int64_t position) const override {
    auto next = std::upper_bound(starts.begin(), starts.end(), position);
    return next == starts.end() ? size() : *next;
  }
  void forEachDocument(const std::function<void(int64_t, int64_t)> &visit) const override {
    for (size_t i = 0; i + 1 < starts.size(); ++i)
      visit(starts[i], starts[i + 1] - starts[i]);
  }

private:
  Row starts{0};
};

class Packs {
public:
  Packs(const Row &lengths, int64_t sequence, Overlong overlong = Overlong::Split)
      : sequence(sequence), set(std::make_unique<Documents>(lengths), LabelWeights(), "packs",
                                sequence, overlong, inputs(sequence), "") {}

  int64_t count() const { return set.samples(); }
  /// Slots [first, first + count) of an input; weights as integers.
  Row row(int64_t sample, Feed feed, int64_t first, int64_t count) const {
    if (feed != Feed::Weights) {
      Row values(static_cast<size_t>(count), -1);
      set.read(sample, static_cast<size_t>(feed), first, count, values.data());
      return values;
    }
    std::vector<float> weights(static_cast<size_t>(count), -1);
    set.read(sample, static_cast<size_t>(feed), first, count, weights.data());
    return {weights.begin(), weights.end()};
  }
  Row row(int64_t sample, Feed feed) const { return row(sample, feed, 0, sequence); }

private:
  static std::vector<InputSpec> inputs(int64_t sequence) {
    std::vector<InputSpec> specs;
    for (const NamedFeed &feed : feeds)
      specs.push_back(
          {feed.name, feed.feed == Feed::Weights ? DType::F32 : DType::I64, {sequence}});
    return specs;
  }

  int64_t sequence;
  PackedSamples set;
};

// Documents of 3, 1, 0 and 4 tokens: the second and third have no label. The fourth does not fit
// behind the first.
TEST(PackedSamples, KeepsDocumentsWhole) {
  Packs packs({3, 1, 0, 4, 2}, 4);
  ASSERT_EQ(packs.count(), 2);
  EXPECT_EQ(packs.row(0, Feed::Tokens), (Row{0, 1, 0, 0}));
  EXPECT_EQ(packs.row(0, Feed::Labels), (Row{1, 2, 0, 0}));
  EXPECT_EQ(packs.row(0, Feed::Documents), (Row{0, 0, 1, 1})) << "unused slots are a document";
  EXPECT_EQ(packs.row(0, Feed::Positions), (Row{0, 1, 0, 0}));
  EXPECT_EQ(packs.row(0, Feed::Weights), (Row{1, 1, 0, 0}));
  EXPECT_EQ(packs.row(0, Feed::Used), (Row{1, 1, 0, 0}));
  EXPECT_EQ(packs.row(1, Feed::Tokens), (Row{4, 5, 6, 8}));
  EXPECT_EQ(packs.row(1, Feed::Labels), (Row{5, 6, 7, 9}));
  EXPECT_EQ(packs.row(1, Feed::Documents), (Row{0, 0, 0, 1}));
  EXPECT_EQ(packs.row(1, Feed::Positions), (Row{0, 1, 2, 0}));
  EXPECT_EQ(packs.row(1, Feed::Weights), (Row{1, 1, 1, 1}));
  EXPECT_EQ(packs.row(1, Feed::Used), (Row{1, 1, 1, 1}));
}

// Ten tokens are nine pairs: two segments of four and a rest, which share their borders.
TEST(PackedSamples, CutsLongDocuments) {
  Packs packs({2, 10, 3}, 4);
  ASSERT_EQ(packs.count(), 4);
  EXPECT_EQ(packs.row(0, Feed::Tokens), (Row{0, 0, 0, 0}));
  EXPECT_EQ(packs.row(1, Feed::Tokens), (Row{2, 3, 4, 5}));
  EXPECT_EQ(packs.row(1, Feed::Labels), (Row{3, 4, 5, 6}));
  EXPECT_EQ(packs.row(2, Feed::Tokens), (Row{6, 7, 8, 9}));
  EXPECT_EQ(packs.row(2, Feed::Positions), (Row{0, 1, 2, 3})) << "from 0 in each segment";
  EXPECT_EQ(packs.row(3, Feed::Tokens), (Row{10, 12, 13, 0}));
  EXPECT_EQ(packs.row(3, Feed::Labels), (Row{11, 13, 14, 0}));
  EXPECT_EQ(packs.row(3, Feed::Documents), (Row{0, 1, 1, 2}));
}

// Documents that are cut, or left out, have nothing of theirs in any other sample.
TEST(PackedSamples, TruncatesLongDocuments) {
  Packs packs({2, 10, 3, 5}, 4, Overlong::Truncate);
  ASSERT_EQ(packs.count(), 4);
  EXPECT_EQ(packs.row(0, Feed::Weights), (Row{1, 0, 0, 0}));
  EXPECT_EQ(packs.row(1, Feed::Tokens), (Row{2, 3, 4, 5}));
  EXPECT_EQ(packs.row(1, Feed::Labels), (Row{3, 4, 5, 6}));
  EXPECT_EQ(packs.row(2, Feed::Tokens), (Row{12, 13, 0, 0}));
  EXPECT_EQ(packs.row(3, Feed::Tokens), (Row{15, 16, 17, 18}));
}

TEST(PackedSamples, SkipsLongDocuments) {
  Packs packs({2, 10, 3, 6, 6, 5, 9}, 4, Overlong::Skip);
  ASSERT_EQ(packs.count(), 2);
  EXPECT_EQ(packs.row(0, Feed::Tokens), (Row{0, 12, 13, 0}));
  EXPECT_EQ(packs.row(0, Feed::Labels), (Row{1, 13, 14, 0}));
  EXPECT_EQ(packs.row(0, Feed::Documents), (Row{0, 1, 1, 2}));
  EXPECT_EQ(packs.row(1, Feed::Tokens), (Row{27, 28, 29, 30}));
}

// Each pair of neighbours in a document occurs once, and no other pair.
TEST(PackedSamples, HasEveryPairOnce) {
  std::mt19937 chance(3);
  for (int round = 0; round < 50; ++round) {
    const int64_t sequence = std::uniform_int_distribution<int64_t>(1, 9)(chance);
    Row lengths(20);
    for (int64_t &length : lengths)
      length = std::uniform_int_distribution<int64_t>(0, 25)(chance);
    std::multiset<std::pair<int64_t, int64_t>> expected, found;
    int64_t token = 0;
    for (int64_t length : lengths)
      for (int64_t i = 0; i < length; ++i, ++token)
        if (i + 1 < length)
          expected.insert({token, token + 1});
    Packs packs(lengths, sequence);
    for (int64_t pack = 0; pack < packs.count(); ++pack) {
      const Row tokens = packs.row(pack, Feed::Tokens), labels = packs.row(pack, Feed::Labels),
                weights = packs.row(pack, Feed::Weights);
      for (size_t slot = 0; slot < tokens.size(); ++slot)
        if (weights[slot] == 1)
          found.insert({tokens[slot], labels[slot]});
    }
    EXPECT_EQ(found, expected) << "samples of " << sequence;
  }
}

// A rank's shard of a sample equals that range of the complete sample.
TEST(PackedSamples, SlicesAgreeWithTheWholeSample) {
  Packs packs({3, 4, 2, 9, 5, 1, 2}, 8);
  for (int64_t pack = 0; pack < packs.count(); ++pack)
    for (const NamedFeed &feed : feeds) {
      const Row whole = packs.row(pack, feed.feed);
      for (int64_t first = 0; first < 8; ++first)
        for (int64_t count = 1; first + count <= 8; ++count)
          EXPECT_EQ(packs.row(pack, feed.feed, first, count),
                    Row(whole.begin() + first, whole.begin() + first + count))
              << feed.name << " from " << first;
    }
}

// Without weights, unused slots would count in the loss.
TEST(PackedSamples, RefusesUnfillableInputs) {
  auto refusal = [](const Row &lengths, const std::vector<InputSpec> &inputs) -> std::string {
    try {
      PackedSamples(std::make_unique<Documents>(lengths), LabelWeights(), "packs", 4,
                    Overlong::Refuse, inputs, "declare it");
    } catch (const UserError &error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(refusal({3}, {{"tokens", DType::I64, {4}}}).find("no input `weights`: declare it"),
            std::string::npos);
  const std::string tooLong = refusal({5, 6}, {{"weights", DType::F32, {4}}});
  EXPECT_NE(tooLong.find("'packs': document 2 has 6 tokens"), std::string::npos) << tooLong;
  EXPECT_NE(tooLong.find("a sample has 5"), std::string::npos) << tooLong;
  EXPECT_NE(tooLong.find("data.overlong=truncate"), std::string::npos) << tooLong;
  EXPECT_EQ(refusal({1, 1}, {{"weights", DType::F32, {4}}}),
            "'packs' holds no document of two tokens or more");
}

} // namespace
