#include "base/prediction/FunctionTime.h"

#include "base/Error.h"
#include "tests/unit/base/prediction/Machines.h"

#include <gtest/gtest.h>

using namespace titan;

namespace {

const Mesh oneNode({{"dp", 1}, {"tp", 4}});

/// A kernel of `seconds`.
StepItem makeKernel(double seconds) {
  KernelWork work;
  work.bytesRead = seconds * 1e12;
  return {"kernel", {}, StepKernel{work}};
}

/// A collective of `seconds` over tp; -1: it is waited for.
StepItem makeCollective(double seconds, int64_t channel = -1) {
  return {"all_gather",
          {},
          StepCollective{{CollectiveWork::Kind::AllGather, {1}, seconds * 100e9, 0}, channel}};
}

FunctionTime simulate(const StepItems &items, double stolen = 0) {
  Machine machine = makeMachine();
  machine.links[0].stolen = stolen;
  return simulateFunction(items, machine.device, oneNode, machine);
}

TEST(FunctionTime, AddsKernelsAndCollectives) {
  const StepItems items{makeKernel(1), makeCollective(2), makeKernel(3)};
  const FunctionTime time = simulate(items);
  EXPECT_DOUBLE_EQ(time.seconds, 6);
  ASSERT_EQ(time.spans.size(), 3U);
  EXPECT_DOUBLE_EQ(time.spans[1].waited, 2);
  EXPECT_EQ(time.spans[1].axes, std::vector{1});
}

TEST(FunctionTime, StartedCollectivesRunBesideKernels) {
  const StepItems items{
      makeCollective(2, 0), makeKernel(1.5), {"wait", {}, StepWait{0}}, makeKernel(1)};
  const FunctionTime time = simulate(items);
  EXPECT_DOUBLE_EQ(time.seconds, 3);
  EXPECT_DOUBLE_EQ(time.spans[0].waited, 0.5);
}

TEST(FunctionTime, CollectivesOfALaneFollowOneAnother) {
  const StepItems items{makeCollective(2, 0), makeCollective(1, 1), {"wait", {}, StepWait{1}}};
  EXPECT_DOUBLE_EQ(simulate(items).seconds, 3);
}

TEST(FunctionTime, CollectivesTakeCoresFromKernels) {
  const StepItems items{makeCollective(2, 0), makeKernel(3), {"wait", {}, StepWait{0}}};
  // 2 s at three quarters of the speed, then 1.5 s alone.
  EXPECT_DOUBLE_EQ(simulate(items, 0.25).seconds, 3.5);
  // A collective that takes all cores hides nothing.
  EXPECT_DOUBLE_EQ(simulate(items, 1).seconds, 5);
}

TEST(FunctionTime, LoopsRepeatTheirBodies) {
  const StepItems items{
      {"repeat", {}, StepLoop{{{3, {makeKernel(1), makeCollective(0.5)}}, {1, {makeKernel(1)}}}}}};
  const FunctionTime time = simulate(items);
  EXPECT_DOUBLE_EQ(time.seconds, 5.5);
  EXPECT_EQ(time.spans.size(), 7U);
}

TEST(FunctionTime, TheHostLaunchesKernelsAhead) {
  Machine machine = makeMachine();
  machine.device.launch = 1;
  const StepItems items{makeKernel(3), makeKernel(0.5), makeKernel(0.5)};
  // The second and third kernel are launched while the first one runs.
  EXPECT_DOUBLE_EQ(simulateFunction(items, machine.device, oneNode, machine).seconds, 5);
  machine.device.isCuda = false;
  EXPECT_DOUBLE_EQ(simulateFunction(items, machine.device, oneNode, machine).seconds, 7);
}

TEST(FunctionTime, LongLoopsAreNotUnrolled) {
  const StepItems items{
      {"repeat", {}, StepLoop{{{1'000'000, {makeKernel(1), makeCollective(0.5)}}}}}};
  const FunctionTime time = simulate(items);
  EXPECT_DOUBLE_EQ(time.seconds, 1.5e6);
  EXPECT_LT(time.spans.size(), 1000U);
  double kernels = 0;
  for (const StepSpan &span : time.spans)
    if (span.axes.empty())
      kernels += span.times * (span.end - span.begin);
  EXPECT_NEAR(kernels, 1e6, 1);
}

TEST(FunctionTime, LongLoopsCountWaitsForTheIterationBefore) {
  // Each iteration waits 1 s for the collective that the one before it started.
  const StepItems items{
      makeCollective(2, 0),
      {"repeat",
       {},
       StepLoop{{{1000, {{"wait", {}, StepWait{0}}, makeCollective(2, 0), makeKernel(1)}}}}}};
  const FunctionTime time = simulate(items);
  double waited = 0, kernels = 0;
  for (const StepSpan &span : time.spans) {
    waited += span.times * span.waited;
    kernels += span.axes.empty() ? span.times * (span.end - span.begin) : 0;
  }
  EXPECT_NEAR(kernels, 1000, 1e-6);
  EXPECT_NEAR(waited + kernels, time.seconds, 1e-6);
}

TEST(FunctionTime, WaitsNeedAStart) {
  const StepItems items{{"wait", {}, StepWait{3}}};
  EXPECT_THROW(simulate(items), Fault);
}

} // namespace
