// Mean outputs of an evaluation, and their report.
#include "loop/EvaluationOutputs.h"

#include "base/Error.h"
#include "loop/EvaluationReport.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace titan;
using namespace titan::rt;

namespace {

double quotient(const double *x) {
  return x[0] / x[1];
}

// A quotient of sums is that of all batches together; other outputs are averaged.
TEST(EvaluationOutputs, AveragesSumsBeforeItDivides) {
  Program program;
  program.vocab = 16;
  program.evaluated = {{"loss", {"batch.0", "batch.1"}, quotient},
                       {"metric.accuracy", {"metric.hits", "batch.1"}, quotient}};
  EvaluationOutputs outputs(program);
  outputs.add({{"batch.0", 6}, {"batch.1", 1}, {"metric.hits", 1}, {"loss.z", 0.5}});
  outputs.add({{"batch.0", 6}, {"batch.1", 5}, {"metric.hits", 2}, {"loss.z", 1.5}});
  const EvaluationNumbers numbers = outputs.numbers();
  EXPECT_DOUBLE_EQ(numbers.loss, 2) << "the mean of the quotients is 3.6";
  EXPECT_EQ(numbers.losses, (NamedNumbers{{"z", 1}}));
  EXPECT_EQ(numbers.metrics, (NamedNumbers{{"hits", 1.5}, {"accuracy", 0.5}}));
  EXPECT_DOUBLE_EQ(*numbers.perplexity, std::exp(2));
}

// A batch filled with copies of a sample, and a batch of such copies alone, give the mean over the
// samples: of 1, 2, 3, 4 in a first batch and 9, 5 in a second one.
TEST(EvaluationOutputs, TakesCopiesAway) {
  Program program;
  EvaluationOutputs outputs(program);
  auto mean = [](double a, double b, double c, double d) { return (a + b + c + d) / 4 + 7; };
  outputs.add({{"loss", mean(1, 2, 3, 4)}});
  outputs.add({{"loss", mean(9, 5, 5, 5)}});
  outputs.add({{"loss", mean(5, 5, 5, 5)}}, -0.5);
  EXPECT_DOUBLE_EQ(outputs.numbers().loss, (1. + 2 + 3 + 4 + 9 + 5) / 6 + 7);
}

// A batch in which nothing counts has no weight.
TEST(EvaluationOutputs, TakesBatchesWithoutCountingLabels) {
  Program program;
  program.evaluated = {{"loss", {"batch.0", "batch.1"}, quotient}};
  EvaluationOutputs outputs(program);
  outputs.add({{"batch.0", 0}, {"batch.1", 0}});
  outputs.add({{"batch.0", 3}, {"batch.1", 2}});
  EXPECT_DOUBLE_EQ(outputs.numbers().loss, 1.5);
}

// Perplexity is that of the loss without a name, or of the only loss, over a vocabulary.
TEST(EvaluationOutputs, KnowsThePerplexity) {
  Program program;
  program.vocab = 16;
  auto computePerplexity = [&](const NamedNumbers &batch) {
    EvaluationOutputs outputs(program);
    outputs.add(batch);
    return outputs.numbers().perplexity;
  };
  EXPECT_DOUBLE_EQ(*computePerplexity({{"loss", 1}}), std::exp(1));
  EXPECT_DOUBLE_EQ(*computePerplexity({{"loss", 3}, {"loss.z", 1}, {"loss.", 2}}), std::exp(2));
  EXPECT_FALSE(computePerplexity({{"loss", 3}, {"loss.a", 1}, {"loss.b", 2}}));
  program.vocab = 0; // of arrays
  EXPECT_FALSE(computePerplexity({{"loss", 1}}));
}

EvaluationResult result(const std::string &set, double loss) {
  return {{set, loss, {{"z", 0.5}}, {{"accuracy", 0.25}}, 2.0}, 8, set.empty() ? 5 : 0, 1024, 61};
}

TEST(EvaluationReport, IsALineForOneSet) {
  EXPECT_EQ(toText({result("", 1.0 / 3)}, 9), "loss 0.333333333 (z 0.5)  perplexity 2  accuracy "
                                              "0.25  8 of 13 samples, 1024 tokens in 1:01\n");
}

TEST(EvaluationReport, IsATableForNamedSets) {
  EXPECT_EQ(toText({result("web", 1.0 / 3), result("code", 2)}, 9),
            "set   loss         loss z  perplexity  accuracy  samples  tokens  time\n"
            "web   0.333333333  0.5     2           0.25      8        1024    1:01\n"
            "code  2            0.5     2           0.25      8        1024    1:01\n");
}

TEST(EvaluationReport, IsJsonOnDemand) {
  EXPECT_EQ(
      toJson(result("web", 0.5)),
      R"({"set":"web","loss":0.5,"perplexity":2.0,"losses":{"z":0.5},)"
      R"("metrics":{"accuracy":0.25},"samples":8,"unread_samples":0,"tokens":1024,"seconds":61.0})");
  EXPECT_EQ(toJson({{"", NAN, {}, {}, {}}, 4, 3, 8, 1}),
            R"({"loss":null,"samples":4,"unread_samples":3,"tokens":8,"seconds":1.0})");
}

} // namespace
