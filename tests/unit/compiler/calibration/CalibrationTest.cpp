// Profiles, their join with the work of a step, and the fit of rates.
#include "base/Error.h"
#include "compiler/calibration/Fit.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace titan;
using namespace titan::calibration;

namespace {

StepItem makeItem(const std::string &name, int64_t line, KernelWork work = {}) {
  return {name, {line ? "folder/a.titan" : "", line}, StepKernel{std::move(work)}};
}

StepProgram makeStep(StepItems items) {
  StepProgram step;
  step.functions["train"] = std::move(items);
  return step;
}

TEST(Profile, ReadsLanes) {
  const Profile profile = readProfile(R"({"traceEvents": [
    {"ph": "M", "pid": 0, "tid": 0, "name": "thread_name"},
    {"ph": "X", "tid": 0, "dur": 2000000, "name": "a.titan:1 add"},
    {"ph": "X", "tid": 1, "dur": 5, "name": "data"},
    {"ph": "X", "tid": 2, "dur": 1000000, "name": "a.titan:2 all_gather"},
    {"ph": "X", "tid": 3, "dur": 3000000, "name": "a.titan:2 all_gather"}]})");
  EXPECT_EQ(profile.operations, (SpansByName{{"a.titan:1 add", {2}}}));
  EXPECT_EQ(profile.collectives, (SpansByName{{"a.titan:2 all_gather", {1, 3}}}));
}

TEST(Profile, RefusesOtherTexts) {
  EXPECT_THROW(readProfile("{"), UserError);
  EXPECT_THROW(readProfile("{}"), UserError);
}

TEST(Samples, HaveTheMedianOfTheSteps) {
  const StepProgram step = makeStep({makeItem("add", 1), makeItem("mul", 1), makeItem("add", 1)});
  Profile profile;
  profile.operations = {{"a.titan:1 add", {1, 10, 3, 30, 2, 20}}, {"a.titan:1 mul", {5, 6, 4}}};
  const Samples samples = joinSamples(step, "train", profile);
  ASSERT_EQ(samples.kernels.size(), 3U);
  EXPECT_EQ(samples.kernels[0].seconds, 2);
  EXPECT_EQ(samples.kernels[1].seconds, 20);
  EXPECT_EQ(samples.kernels[2].seconds, 5);
}

TEST(Samples, LeaveOutOperationsInOneSpan) {
  const StepProgram step =
      makeStep({makeItem("add", 1), makeItem("add", 1), makeItem("mul", 2), makeItem("fill", 0)});
  Profile profile;
  profile.operations = {{"a.titan:1 add", {1}}, {"a.titan:2 mul", {1}}};
  EXPECT_TRUE(joinSamples(step, "train", profile).kernels.empty());
}

TEST(Samples, RefuseTheProfileOfAnotherProgram) {
  const StepProgram step = makeStep({makeItem("add", 1), makeItem("mul", 1), makeItem("add", 1)});
  Profile profile;
  profile.operations = {{"a.titan:1 add", {1, 2, 3}}};
  EXPECT_THROW(joinSamples(step, "train", profile), UserError);
  EXPECT_THROW(joinSamples(step, "eval", profile), UserError);
}

TEST(Samples, StartedCollectivesHaveTheirOwnLane) {
  auto makeCollective = [](int64_t channel) {
    return StepItem{"all_gather",
                    {"a.titan", 3},
                    StepCollective{{CollectiveWork::Kind::AllGather, {0}, 8, 1}, channel}};
  };
  const StepProgram step = makeStep({makeCollective(0), makeItem("add", 1), makeCollective(-1)});
  Profile profile;
  profile.operations = {{"a.titan:3 all_gather", {1e-9, 7, 1e-9, 6}}, {"a.titan:1 add", {1, 1}}};
  profile.collectives = {{"a.titan:3 all_gather", {4, 5}}};
  const Samples samples = joinSamples(step, "train", profile);
  ASSERT_EQ(samples.collectives.size(), 2U);
  EXPECT_EQ(samples.collectives[0].seconds, 6); // that the program waits for, in the better step
  EXPECT_EQ(samples.collectives[1].seconds, 4);
}

/// A loop that takes `bytes` / 10 GB/s + `arithmetic` / 1 G/s + `special` / 0.1 G/s + 1 us.
Sample<KernelWork> makeLoop(double bytes, double arithmetic, double special = 0) {
  KernelWork work;
  work.bytesRead = bytes;
  work.arithmetic = arithmetic;
  work.special = special;
  return {work, 1e-6 + std::max(bytes / 10e9, arithmetic / 1e9 + special / 0.1e9)};
}

TEST(Fit, FindsTheRatesOfLoops) {
  Device device;
  fitDevice({makeLoop(16, 4), makeLoop(16, 4), makeLoop(16, 4), makeLoop(1e9, 1e6),
             makeLoop(1e6, 1e7), makeLoop(1e6, 1e6, 1e6)},
            {0, 0}, device);
  EXPECT_NEAR(device.launch, 1e-6, 1e-8);
  ASSERT_EQ(device.levels.size(), 1U);
  EXPECT_NEAR(device.levels[0].bandwidth, 10e9, 1e8);
  EXPECT_TRUE(std::isinf(device.levels[0].bytes));
  EXPECT_NEAR(device.arithmetic, 1e9, 1e7);
  EXPECT_NEAR(device.special, 0.1e9, 1e6);
}

TEST(Fit, LeavesOutCachesWithoutASample) {
  Device device;
  fitDevice({makeLoop(1e5, 0), makeLoop(1e9, 0)}, {1e6, 1e7}, device);
  ASSERT_EQ(device.levels.size(), 2U);
  EXPECT_EQ(device.levels[0].bytes, 1e6);
  EXPECT_TRUE(std::isinf(device.levels[1].bytes));
}

TEST(Fit, TheFastestProductIsThePeak) {
  KernelWork work;
  work.kind = KernelKind::Product;
  work.type = "f32";
  work.flops = 2e9;
  Device device;
  fitDevice({{work, 2}, {work, 1}}, {}, device);
  EXPECT_EQ(device.products.at("f32").peak, 2e9);
  EXPECT_EQ(device.products.at("f32").measured.size(), 2U);
}

TEST(Fit, FindsLatencyAndBandwidth) {
  std::vector<Sample<CollectiveWork>> collectives;
  for (double bytes : {8.0, 16.0, 1e6, 2e6, 1e9, 2e9})
    collectives.push_back(
        {{CollectiveWork::Kind::AllGather, {0}, bytes, 1}, 2 * 1e-5 + bytes / 1e9});
  const Link link = fitLink(collectives, 3);
  EXPECT_NEAR(link.latency, 1e-5, 1e-7);
  EXPECT_NEAR(link.bandwidth, 1e9, 1e6);
  EXPECT_THROW(fitLink({}, 2), UserError);
}

} // namespace
