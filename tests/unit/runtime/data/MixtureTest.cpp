// The order of samples in a mixture of several sets.
#include "data/DataSource.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

using namespace titan;
using namespace titan::rt;

namespace {

// Each set's samples are numbered in order, without gaps; at every point each has its fraction.
TEST(MixtureOrder, DividesByWeight) {
  for (const std::vector<double> &weights :
       {std::vector<double>{1}, {1, 1}, {0.7, 0.3}, {0.001, 0.999}, {5, 3, 2}, {1, 1, 1, 1, 1}}) {
    MixtureOrder order(weights);
    double all = 0;
    for (double weight : weights)
      all += weight;
    std::vector<int64_t> counts(weights.size());
    for (int64_t g = 0; g < 5000; ++g) {
      EXPECT_EQ(order.counts(g), counts);
      const MixtureOrder::Choice choice = order(g);
      ASSERT_LT(choice.set, weights.size());
      EXPECT_EQ(choice.sample, counts[choice.set]++);
      for (size_t set = 0; set < weights.size(); ++set)
        EXPECT_LE(std::abs(double(counts[set]) - double(g + 1) * weights[set] / all),
                  double(weights.size()));
    }
  }
}

// The sum of finite weights may be infinite.
TEST(MixtureOrder, DividesByGreatWeights) {
  EXPECT_EQ(MixtureOrder({1e308, 1e308}).counts(1000), (std::vector<int64_t>{500, 500}));
  EXPECT_EQ(MixtureOrder({1.5e308, 7.5e307, 7.5e307}).counts(600),
            (std::vector<int64_t>{300, 150, 150}));
}

// No table: a sample of any number is found, at the limits of integers too.
TEST(MixtureOrder, IsExactForLargeNumbers) {
  MixtureOrder order({0.3, 0.7});
  const int64_t far = int64_t(1) << 60;
  const std::vector<int64_t> before = order.counts(far), after = order.counts(far + 1);
  EXPECT_EQ(before[0] + before[1], far);
  const MixtureOrder::Choice choice = order(far);
  EXPECT_EQ(choice.sample, before[choice.set]);
  EXPECT_EQ(after[choice.set], before[choice.set] + 1);
}

/// Sample i of the set holds one number: `base` + i.
class Numbers final : public SampleSet {
public:
  Numbers(int64_t base, int64_t count) : base(base), count(count) {}
  int64_t samples() const override { return count; }
  void read(int64_t sample, size_t, int64_t, int64_t, void *out) const override {
    *static_cast<int64_t *>(out) = base + sample;
  }

private:
  int64_t base, count;
};

// Each set has its own epochs: every sample once in each, in another order.
TEST(MixtureOrder, KeepsEpochsOfEachSet) {
  std::vector<DataSource::Component> components;
  components.push_back({3, "a", std::make_unique<Numbers>(0, 6)});
  components.push_back({1, "b", std::make_unique<Numbers>(100, 4)});
  DataSource data(std::move(components), 5);
  EXPECT_EQ(data.samples(), 10);
  std::map<bool, std::vector<int64_t>> read;
  for (int64_t g = 0; g < 16; ++g) { // two epochs of a, one of b
    int64_t value;
    data.read(g, 0, 0, 1, &value);
    read[value >= 100].push_back(value);
  }
  EXPECT_EQ(std::set<int64_t>(read[true].begin(), read[true].end()),
            (std::set<int64_t>{100, 101, 102, 103}));
  ASSERT_EQ(read[false].size(), 12u);
  auto epoch = [&](int64_t e) {
    return std::vector<int64_t>(read[false].begin() + 6 * e, read[false].begin() + 6 * e + 6);
  };
  for (int64_t e : {0, 1}) {
    const std::vector<int64_t> samples = epoch(e);
    EXPECT_EQ(std::set<int64_t>(samples.begin(), samples.end()),
              (std::set<int64_t>{0, 1, 2, 3, 4, 5}));
  }
  EXPECT_NE(epoch(0), epoch(1));
  const std::vector<DataSource::Usage> usage = data.usageBefore(16);
  EXPECT_EQ(usage[0].samples, 12);
  EXPECT_DOUBLE_EQ(usage[0].epochs, 2);
  EXPECT_EQ(usage[1].path, "b");
  EXPECT_DOUBLE_EQ(usage[1].epochs, 1);
}

} // namespace
