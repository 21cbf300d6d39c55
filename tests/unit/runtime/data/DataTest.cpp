// Permutations, and batches of samples from a stream of tokens.
#include "data/Data.h"
#include "base/Error.h"
#include "data/TokenSamples.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

/// Token i of the stream is i, so a batch reveals where it was read.
class Counting final : public TokenStream {
public:
  explicit Counting(int64_t length) : length(length) {}
  int64_t size() const override { return length; }
  int64_t leastToken() const override { return 0; }
  int64_t vocabulary() const override { return length; }
  void read(int64_t first, int64_t count, int64_t *out) const override {
    ASSERT_GE(first, 0);
    ASSERT_LE(first + count, length);
    std::iota(out, out + count, static_cast<int64_t>(first));
  }
  /// Documents of 3 and 4 tokens in turn.
  int64_t nextDocument(int64_t position) const override {
    int64_t next = position - position % 7 + (position % 7 < 3 ? 3 : 7);
    return std::min(next, length);
  }
  void forEachDocument(const std::function<void(int64_t, int64_t)> &visit) const override {
    for (int64_t first = 0; first < length; first = nextDocument(first))
      visit(first, nextDocument(first) - first);
  }

private:
  int64_t length;
};

/// All inputs that tokens give; the number of each is that of its feed.
std::vector<InputSpec> allFeeds(int64_t sequence) {
  std::vector<InputSpec> inputs;
  for (const NamedFeed &feed : feeds)
    inputs.push_back({feed.name, feed.feed == Feed::Weights ? DType::F32 : DType::I64, {sequence}});
  return inputs;
}

class CountingSource : public DataSource {
public:
  CountingSource(int64_t tokens, int64_t sequence, uint64_t seed, bool shuffle)
      : DataSource(makeComponents(tokens, sequence), seed, shuffle) {}

  void row(int64_t sample, int64_t first, int64_t columns, Feed feed, int64_t *out) const {
    read(sample, static_cast<size_t>(feed), first, columns, out);
  }

private:
  static std::vector<Component> makeComponents(int64_t tokens, int64_t sequence) {
    std::vector<Component> components;
    components.push_back(
        {1, "counting",
         std::make_unique<TokenSamples>(std::make_unique<Counting>(tokens), LabelWeights(),
                                        "counting", sequence, allFeeds(sequence))});
    return components;
  }
};

CountingSource counting(int64_t tokens, int64_t sequence, uint64_t seed = 1, bool shuffle = true) {
  return {tokens, sequence, seed, shuffle};
}

// For every size, a permutation yields each element exactly once.
TEST(Permutation, IsABijection) {
  for (uint64_t n : {1, 2, 3, 4, 5, 16, 17, 100, 1000, 4097}) {
    Permutation permutation(n, 42, 0);
    std::set<uint64_t> hit;
    for (uint64_t i = 0; i < n; ++i)
      hit.insert(permutation(i));
    EXPECT_EQ(hit.size(), n);
    EXPECT_EQ(*hit.rbegin(), n - 1);
  }
}

// Seeds and epochs give different orders, none of them the identity.
TEST(Permutation, DependsOnSeedAndTweak) {
  auto order = [](uint64_t seed, uint64_t tweak) {
    Permutation permutation(1000, seed, tweak);
    std::vector<uint64_t> all(1000);
    for (uint64_t i = 0; i < 1000; ++i)
      all[i] = permutation(i);
    return all;
  };
  std::vector<uint64_t> identity(1000);
  std::iota(identity.begin(), identity.end(), 0);
  EXPECT_EQ(order(1, 0), order(1, 0));
  EXPECT_NE(order(1, 0), order(2, 0));
  EXPECT_NE(order(1, 0), order(1, 1));
  EXPECT_NE(order(1, 0), identity);
}

// Adjacent positions are far apart: the mean distance is that of random pairs (n / 3).
TEST(Permutation, Mixes) {
  uint64_t n = 10000;
  Permutation permutation(n, 3, 0);
  double distance = 0;
  for (uint64_t i = 0; i + 1 < n; ++i)
    distance += std::abs(double(permutation(i)) - double(permutation(i + 1))) / (n - 1);
  EXPECT_NEAR(distance / n, 1.0 / 3, 0.02);
}

// Labels are the tokens after the inputs, within windows that start at multiples of the length.
TEST(DataSource, LabelsFollowInputs) {
  CountingSource data = counting(101, 10);
  for (int64_t sample = 0; sample < 4; ++sample) {
    std::vector<int64_t> inputs(10), labels(10);
    data.row(sample, 0, 10, Feed::Tokens, inputs.data());
    data.row(sample, 0, 10, Feed::Labels, labels.data());
    EXPECT_EQ(inputs[0] % 10, 0);
    for (int t = 0; t < 10; ++t) {
      EXPECT_EQ(inputs[t], inputs[0] + t);
      EXPECT_EQ(labels[t], inputs[t] + 1);
    }
  }
}

// Each epoch uses every window exactly once.
TEST(DataSource, EverySampleOnceAnEpoch) {
  CountingSource data = counting(101, 10); // 10 windows
  std::vector<std::multiset<int64_t>> epochs(2);
  std::vector<int64_t> orders[2];
  for (int64_t sample = 0; sample < 20; ++sample) {
    int64_t first;
    data.row(sample, 0, 1, Feed::Tokens, &first);
    epochs[sample / 10].insert(first);
    orders[sample / 10].push_back(first);
  }
  for (const auto &epoch : epochs) {
    EXPECT_EQ(epoch.size(), 10u);
    EXPECT_EQ(std::set<int64_t>(epoch.begin(), epoch.end()).size(), 10u);
  }
  EXPECT_NE(orders[0], orders[1]);
}

// Any column range of a sample equals that range of the complete sample.
TEST(DataSource, SlicesAgreeWithTheWholeSample) {
  CountingSource data = counting(1001, 10);
  std::vector<int64_t> whole(10), wholeLabels(10), slice(4), sliceLabels(4);
  data.row(20, 0, 10, Feed::Tokens, whole.data());
  data.row(20, 0, 10, Feed::Labels, wholeLabels.data());
  data.row(20, 5, 4, Feed::Tokens, slice.data());
  data.row(20, 5, 4, Feed::Labels, sliceLabels.data());
  for (int t = 0; t < 4; ++t) {
    EXPECT_EQ(slice[t], whole[t + 5]);
    EXPECT_EQ(sliceLabels[t], wholeLabels[t + 5]);
  }
}

// Documents are counted from the start of the sample, positions from the start of the document.
TEST(DataSource, DocumentsAndPositions) {
  CountingSource data = counting(101, 10, 1, false);
  auto row = [&](int64_t sample, int64_t first, int64_t columns, Feed feed) {
    std::vector<int64_t> out(static_cast<size_t>(columns));
    data.row(sample, first, columns, feed, out.data());
    return out;
  };
  using Row = std::vector<int64_t>;
  EXPECT_EQ(row(0, 0, 10, Feed::Documents), (Row{0, 0, 0, 1, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(row(0, 0, 10, Feed::Positions), (Row{0, 1, 2, 0, 1, 2, 3, 0, 1, 2}));
  EXPECT_EQ(row(2, 0, 10, Feed::Documents), (Row{0, 1, 1, 1, 2, 2, 2, 2, 3, 3})) << "from token 20";
  EXPECT_EQ(row(2, 0, 10, Feed::Positions), (Row{0, 0, 1, 2, 0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(row(2, 6, 3, Feed::Documents), (Row{2, 2, 3})) << "a rank's shard";
  EXPECT_EQ(row(2, 6, 3, Feed::Positions), (Row{2, 3, 0}));
}

std::string catchFailure(const std::function<void()> &run) {
  try {
    run();
  } catch (const UserError &error) {
    return error.what();
  }
  return "no error";
}

// Weight i belongs to token i as a label. The file is optional, has a byte per token, and holds 0
// and 1 alone.
TEST(DataSource, WeightsBelongToLabels) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("titan-weights-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string prefix = (folder / "pairs").string(), path = prefix + ".weights.bin";
  auto read = [&](DType type, auto values, int64_t first = 0) {
    TokenSamples samples(std::make_unique<Counting>(9), LabelWeights(prefix, 9), "counting", 4,
                         {{"weights", type, {4}}});
    samples.read(1, 0, first, static_cast<int64_t>(values.size()), values.data());
    return values;
  };
  EXPECT_EQ(read(DType::F64, std::vector<double>(4)), (std::vector<double>{1, 1, 1, 1}))
      << "without a file";

  std::ofstream(path, std::ios::binary).write("\0\0\1\0\0\1\0\1\1", 9);
  EXPECT_EQ(read(DType::F64, std::vector<double>(4)), (std::vector<double>{1, 0, 1, 1}));
  EXPECT_EQ(read(DType::F32, std::vector<float>(4)), (std::vector<float>{1, 0, 1, 1}));
  EXPECT_EQ(read(DType::F32, std::vector<float>(2), 1), (std::vector<float>{0, 1})) << "a part";
  EXPECT_EQ(read(DType::BF16, std::vector<uint16_t>(2)), (std::vector<uint16_t>{0x3f80, 0}));
  EXPECT_NE(
      catchFailure([&] { read(DType::I64, std::vector<int64_t>(4)); }).find("no input 'weights'"),
      std::string::npos);

  std::ofstream(path, std::ios::binary).write("\1\1\1\1\1\1\2\1\1", 9);
  EXPECT_EQ(catchFailure([&] { read(DType::F32, std::vector<float>(4)); }),
            "'" + path + "' holds 2 at byte 6; a weight is 0 or 1");
  std::ofstream(path, std::ios::binary) << "\1\1";
  EXPECT_EQ(catchFailure([&] { read(DType::F32, std::vector<float>(4)); }),
            "'" + path + "' has 2 bytes, but '" + prefix +
                ".bin' has 9 tokens, each of which needs one");
  std::filesystem::remove_all(folder);
}

// A slice of the stream has data in every slot.
TEST(DataSource, AllSlotsOfSlicesAreUsed) {
  TokenSamples samples(std::make_unique<Counting>(9), LabelWeights(), "counting", 4,
                       {{"used", DType::I64, {4}}});
  std::vector<int64_t> used(3);
  samples.read(1, 0, 1, 3, used.data());
  EXPECT_EQ(used, (std::vector<int64_t>{1, 1, 1}));
  EXPECT_NE(catchFailure([&] {
              TokenSamples(std::make_unique<Counting>(9), LabelWeights(), "counting", 4,
                           {{"used", DType::F32, {4}}});
            }).find("no input 'used'"),
            std::string::npos);
}

/// Two samples of four labels: some of the first count, and the last of the second does not.
class SomeLabels final : public SampleSet {
public:
  int64_t samples() const override { return 2; }
  void read(int64_t sample, size_t input, int64_t first, int64_t count, void *out) const override {
    EXPECT_EQ(input, 1U) << "the number of the weights";
    for (int64_t i = 0; i < count; ++i)
      static_cast<double *>(out)[i] = sample == 0 ? (first + i) % 2 : first + i < 3;
  }
};

// Evaluations report the tokens whose labels count, of the samples that they read.
TEST(DataSource, CountsLabels) {
  auto open = [](std::optional<WeightsInput> weights) {
    std::vector<DataSource::Component> one;
    one.push_back({1, "labels", std::make_unique<SomeLabels>()});
    return EvaluationSet{"", "labels", DataSource(std::move(one), 0, false), weights};
  };
  const EvaluationSet weighted = open(WeightsInput{1, DType::F64});
  EXPECT_EQ(countLabels(weighted, 2, 4), 5);
  EXPECT_EQ(countLabels(weighted, 1, 4), 2) << "the first sample alone";
  EXPECT_EQ(countLabels(open(std::nullopt), 2, 4), 8) << "without weights";
}

// Without shuffling, samples are in file order.
TEST(DataSource, KeepsOrderWhenAsked) {
  CountingSource data = counting(101, 10, 1, false);
  int64_t first;
  data.row(3, 0, 1, Feed::Tokens, &first);
  EXPECT_EQ(first, 30);
  data.row(10, 0, 1, Feed::Tokens, &first);
  EXPECT_EQ(first, 0) << "the next epoch";
}

// Files are read as bytes, including values above 127; missing or short files are named.
TEST(DataSource, TextFile) {
  auto path = std::filesystem::temp_directory_path() / ("titan-data-" + std::to_string(getpid()));
  std::ofstream(path, std::ios::binary) << "abc\xff";
  auto stream = openTextBytes(path);
  int64_t tokens[4];
  stream->read(0, 4, tokens);
  EXPECT_EQ(std::vector<int64_t>(tokens, tokens + 4), (std::vector<int64_t>{'a', 'b', 'c', 255}));
  EXPECT_EQ(stream->vocabulary(), 256);
  try {
    TokenSamples(std::move(stream), LabelWeights(), path, 4, {});
    FAIL() << "expected an error";
  } catch (const UserError &error) {
    EXPECT_NE(std::string(error.what()).find("needs 5: add texts, or compile"), std::string::npos)
        << error.what();
  }
  std::filesystem::remove(path);
  try {
    openTextBytes(path);
    FAIL() << "expected an error";
  } catch (const UserError &error) {
    EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
  }
}

} // namespace
