#include "base/prediction/StepTime.h"

#include "base/Error.h"
#include "base/prediction/StepProgramJson.h"
#include "tests/unit/base/prediction/Machines.h"

#include <gtest/gtest.h>

using namespace titan;

namespace {

/// A function with one kernel of `seconds`.
StepItems makeFunction(double seconds) {
  KernelWork work;
  work.bytesRead = seconds * 1e12;
  return {{"kernel", {"model.titan", 7}, StepKernel{work}}};
}

/// Two stages in one node; each runs a forward function of 1 s for two microbatches, and sends the
/// result to the second stage, in 0.5 s.
StepProgram makePipeline() {
  StepProgram step;
  step.axes = {"pp"};
  step.degrees = {2};
  step.pipelineAxis = 0;
  step.functions = {{"forward", makeFunction(1)}};
  step.ranks.resize(2);
  const double bytes = 50e9;
  for (int microbatch = 0; microbatch < 2; ++microbatch) {
    step.ranks[0].calls.push_back({"forward", "0F", 1, {}, {}, {microbatch}});
    step.ranks[0].messages.push_back({1, bytes, true});
    step.ranks[1].calls.push_back({"forward", "1F", 1, {microbatch}, {microbatch}, {}});
    step.ranks[1].messages.push_back({1, bytes, false});
  }
  step.ranks[0].lastWaits = {0, 1};
  step.tokens = 100;
  step.type = "bf16";
  return step;
}

Machine makeFastMachine() {
  Machine machine = makeMachine();
  for (Link &link : machine.links)
    link.latency = 0;
  return machine;
}

TEST(StepTime, OneRankRunsItsCalls) {
  StepProgram step;
  step.functions = {{"train", makeFunction(2)}};
  step.ranks.push_back({{{"train", "train"}}, {}, {}});
  step.tokens = 100;
  const StepTime time = predictStep(step, makeFastMachine());
  EXPECT_DOUBLE_EQ(time.seconds, 2);
  EXPECT_DOUBLE_EQ(time.getTokensPerSecond(step), 50);
  EXPECT_DOUBLE_EQ(time.loops, 2);
  EXPECT_DOUBLE_EQ(time.bubble, 0);
  EXPECT_DOUBLE_EQ((time.lines.at({"model.titan", 7})), 2);
}

TEST(StepTime, TurnsCountByTheirFraction) {
  StepProgram step;
  step.functions = {{"a", makeFunction(2)}, {"b", makeFunction(4)}};
  step.ranks.push_back({{{"a", "a", 0.75}, {"b", "b", 0.25}}, {}, {}});
  EXPECT_DOUBLE_EQ(predictStep(step, makeFastMachine()).seconds, 2.5);
}

TEST(StepTime, StagesWaitForMessages) {
  const StepProgram step = makePipeline();
  const StepTime time = predictStep(step, makeFastMachine());
  // The first message arrives at 1.5 s, the second at 2.5 s: the second stage ends at 3.5 s. Its
  // second receive starts after its first call, at 2.5 s, so that message arrives at 3 s.
  EXPECT_DOUBLE_EQ(time.seconds, 4);
  EXPECT_DOUBLE_EQ(time.calls[1][0].begin, 1.5);
  EXPECT_DOUBLE_EQ(time.calls[1][1].begin, 3);
  EXPECT_DOUBLE_EQ(time.bubble, 2);
}

TEST(StepTime, EarlyReceivesHideMessages) {
  StepProgram step = makePipeline();
  step.ranks[1].calls[0].receives = {0, 1};
  step.ranks[1].calls[1].receives = {};
  EXPECT_DOUBLE_EQ(predictStep(step, makeFastMachine()).seconds, 3.5);
}

TEST(StepTime, ReportsDeadlocks) {
  StepProgram step = makePipeline();
  step.ranks[0].calls.pop_back();
  step.ranks[0].lastWaits = {0};
  EXPECT_THROW(predictStep(step, makeFastMachine()), Fault);
}

TEST(StepTime, RanksDivideACpu) {
  StepProgram step;
  step.axes = {"dp"};
  step.degrees = {8};
  step.functions = {{"train", makeFunction(1)}};
  step.ranks.push_back({{{"train", "train"}}, {}, {}});
  Machine machine = makeFastMachine();
  machine.device.isCuda = false;
  EXPECT_DOUBLE_EQ(predictStep(step, machine).seconds, 4); // four ranks in a node
}

TEST(StepTime, RanksDivideMeasuredRates) {
  KernelWork work;
  work.kind = KernelKind::Product;
  work.type = "f32";
  work.m = work.n = work.k = 100;
  work.flops = 2e6;
  StepProgram step;
  step.axes = {"dp"};
  step.degrees = {4};
  step.functions = {{"train", {{"contract", {}, StepKernel{work}}}}};
  step.ranks.push_back({{{"train", "train"}}, {}, {}});
  Machine machine = makeFastMachine();
  machine.device.isCuda = false;
  machine.device.arithmetic = 1;
  machine.device.products["f32"] = {
      2e9, {{1, 100, 100, 100, 2e6, 2e-3}}, {}, {}}; // half of the peak
  EXPECT_NEAR(predictStep(step, machine).seconds, 8e-3, 1e-8);
}

TEST(StepTime, UtilisationCountsAllDevices) {
  StepProgram step = makePipeline();
  step.modelFlops = 100e12;
  step.flops = 150e12;
  const Utilisation utilisation = getUtilisation(step, 1, makeFastMachine());
  EXPECT_DOUBLE_EQ(utilisation.model, 0.5);
  EXPECT_DOUBLE_EQ(utilisation.hardware, 0.75);
}

TEST(StepProgramJson, RoundTrip) {
  StepProgram step = makePipeline();
  KernelWork work;
  work.kind = KernelKind::Product;
  work.type = "bf16";
  work.m = 3;
  step.functions["all"] = {
      {"contract", {"a.titan", 1}, StepKernel{work}},
      {"all_to_all", {}, StepCollective{{CollectiveWork::Kind::AllToAll, {0}, 12, 2}, 5}},
      {"wait", {}, StepWait{5}},
      {"repeat", {}, StepLoop{{{2, makeFunction(1)}}}}};
  const std::string text = writeStepProgram(step);
  EXPECT_EQ(writeStepProgram(readStepProgram(text)), text);
}

TEST(StepProgramJson, RefusesOtherTexts) {
  EXPECT_THROW(readStepProgram(""), UserError);
  EXPECT_THROW(readStepProgram("{}"), UserError);
  EXPECT_THROW(readStepProgram("{\"version\": 99}"), UserError);
}

TEST(StepProgramJson, RefusesStepsThatCannotBeSimulated) {
  auto isRefused = [](auto change) {
    StepProgram step = makePipeline();
    change(step);
    try {
      readStepProgram(writeStepProgram(step));
    } catch (const UserError &) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(isRefused([](StepProgram &) {}));
  EXPECT_TRUE(isRefused([](StepProgram &step) { step.ranks.clear(); }));
  EXPECT_TRUE(isRefused([](StepProgram &step) { step.ranks.pop_back(); }));
  EXPECT_TRUE(isRefused([](StepProgram &step) { step.pipelineAxis = 1; }));
  EXPECT_TRUE(isRefused([](StepProgram &step) { step.degrees.push_back(2); }));
  EXPECT_TRUE(isRefused([](StepProgram &step) { step.ranks[0].calls[0].sends = {9}; }));
  EXPECT_TRUE(isRefused([](StepProgram &step) { step.ranks[0].lastWaits = {-1}; }));
  EXPECT_TRUE(isRefused([](StepProgram &step) { step.ranks[0].messages[0].offset = 2; }));
  EXPECT_TRUE(isRefused([](StepProgram &step) { step.functions.clear(); }));
}

} // namespace
