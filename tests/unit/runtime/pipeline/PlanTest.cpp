// The plans of ranks are executed in random interleavings, which must give every call its values.
#include "PlanSimulation.h"
#include "RandomPipeline.h"

#include "base/Error.h"
#include "base/pipeline/Slots.h"

#include <gtest/gtest.h>

using namespace titan;
using namespace titan::pipeline;
using namespace titan::rt;
using titan::test::PlanSimulation;
using titan::test::RandomPipeline;

namespace {

std::vector<RankPlan> planAll(const Pipeline &pipeline, const schedule::Schedule &schedule) {
  const StepOrder order = orderStep(pipeline, schedule);
  const std::vector<Transfer> transfers = findTransfers(pipeline, order);
  std::vector<std::string> functions;
  for (const Fragment &fragment : pipeline.fragments)
    functions.push_back(fragment.function);
  std::vector<RankPlan> plans;
  for (size_t rank = 0; rank < order.size(); ++rank)
    plans.push_back(planRank(pipeline, functions, order, transfers, static_cast<int>(rank)));
  return plans;
}

std::string simulate(const Pipeline &pipeline, const std::vector<RankPlan> &plans,
                     std::mt19937 &random) {
  return PlanSimulation(pipeline, plans, random).run();
}

int draw(std::mt19937 &random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}

// Each algorithm, with values that skip stages.
TEST(Plan, RunsAllAlgorithms) {
  std::mt19937 random(1);
  for (const schedule::Algorithm &algorithm : schedule::allAlgorithms())
    for (int ranks : {2, 4}) {
      const int stages = ranks * algorithm.stagesPerRank, microbatches = 4 * ranks;
      RandomPipeline made(stages, microbatches, random);
      const auto plans =
          planAll(made.pipeline,
                  schedule::generate(algorithm, {ranks, algorithm.stagesPerRank, microbatches}));
      for (int i = 0; i < 5; ++i)
        EXPECT_EQ(simulate(made.pipeline, plans, random), "") << algorithm.name;
    }
}

// Random orders of the work on random ranks: no deadlock, and no slot is reused too early.
TEST(Plan, RunsRandomSchedules) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const int stages = draw(random, 1, 6), microbatches = draw(random, 1, 7);
    RandomPipeline made(stages, microbatches, random);
    const auto schedule = test::randomSchedule(stages, microbatches, draw(random, 1, 4), random);
    EXPECT_EQ(simulate(made.pipeline, planAll(made.pipeline, schedule), random), "") << seed;
  }
}

// The simulation finds faults: a message that is missing on one side, two values in one slot, and a
// receive into another slot.
TEST(Plan, MutantsFail) {
  int dropped = 0, merged = 0, moved = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    RandomPipeline made(4, 6, random);
    const auto plans = planAll(made.pipeline, test::randomSchedule(4, 6, 3, random));
    for (size_t rank = 0; rank < plans.size(); ++rank) {
      auto mutant = plans;
      for (PlannedCall &call : mutant[rank].calls)
        if (!call.sends.empty()) {
          call.sends.pop_back();
          EXPECT_NE(simulate(made.pipeline, mutant, random), "") << seed;
          ++dropped;
          break;
        }
    }
    for (size_t rank = 0; rank < plans.size(); ++rank)
      for (const auto &[allocation, slots] : plans[rank].slots) {
        if (slots < 2 || std::any_of(
                             plans[rank].messages.begin(), plans[rank].messages.end(),
                             [&, stash = allocation](const Message &message) {
                               return message.allocation == stash;
                             }))
          continue; // an additional slot lets a transfer overlap
        auto mutant = plans;
        for (PlannedCall &call : mutant[rank].calls)
          for (PlannedCall::Slot &slot : call.slots)
            if (slot.allocation == allocation && slot.index == slots - 1)
              slot.index = 0;
        EXPECT_NE(simulate(made.pipeline, mutant, random), "") << seed;
        ++merged;
      }
    for (size_t rank = 0; rank < plans.size(); ++rank) {
      auto mutant = plans;
      for (Message &message : mutant[rank].messages) {
        const auto slots = plans[rank].slots.find(message.allocation);
        if (message.isSend || slots == plans[rank].slots.end() || slots->second < 2)
          continue;
        message.slot = (message.slot + 1) % slots->second;
        EXPECT_NE(simulate(made.pipeline, mutant, random), "") << seed;
        ++moved;
        break;
      }
    }
  }
  EXPECT_GT(dropped, 20);
  EXPECT_GT(merged, 20);
  EXPECT_GT(moved, 20);
}

// As many slots as values are live at once, counted call by call.
TEST(Plan, FewestSlots) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<Occupation> values;
    for (int i = draw(random, 1, 20); i > 0; --i) {
      const auto begin = static_cast<size_t>(draw(random, 0, 30));
      values.push_back({begin, begin + static_cast<size_t>(draw(random, 0, 10))});
    }
    std::sort(values.begin(), values.end(),
              [](const Occupation &a, const Occupation &b) { return a.begin < b.begin; });
    const SlotAssignment assignment = assignSlots(values);
    int64_t most = 0;
    for (size_t call = 0; call <= 40; ++call) {
      std::vector<int64_t> taken;
      for (size_t i = 0; i < values.size(); ++i)
        if (values[i].begin <= call && call <= values[i].end)
          taken.push_back(assignment.slotOf[i]);
      most = std::max(most, static_cast<int64_t>(taken.size()));
      std::sort(taken.begin(), taken.end());
      EXPECT_EQ(std::unique(taken.begin(), taken.end()), taken.end());
    }
    EXPECT_EQ(assignment.count, most);
  }
}

// With 1F1B, rank r keeps the residuals of `ranks` - r microbatches; with GPipe, of all.
TEST(Plan, SlotsOfKnownSchedules) {
  constexpr int ranks = 4, microbatches = 8;
  Pipeline pipeline{"train", 0, ranks, microbatches, "", {}, {}, {}};
  for (int stage = 0; stage < ranks; ++stage) {
    pipeline.fragments.push_back({"f", FragmentKind::Forward, stage, 0, {stage}, {}, {stage}});
    pipeline.fragments.push_back({"b", FragmentKind::Backward, stage, 0, {stage}, {stage}, {}});
    pipeline.stashes.push_back(stage);
  }
  for (const auto &[name, isFlat] : {std::pair("1f1b", false), std::pair("gpipe", true)}) {
    const schedule::Algorithm *algorithm = schedule::findAlgorithm(name);
    ASSERT_TRUE(algorithm) << name;
    const auto plans = planAll(pipeline, schedule::generate(*algorithm, {ranks, 1, microbatches}));
    for (int rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(plans[static_cast<size_t>(rank)].slots.at(rank),
                isFlat ? microbatches : ranks - rank);
  }
}

// The calls of a rank have the names of the schedule's table, in its order.
TEST(Plan, NamesAreThoseOfTheTable) {
  std::mt19937 random(2);
  RandomPipeline made(2, 2, random);
  const auto plans =
      planAll(made.pipeline, schedule::generate(*schedule::findAlgorithm("gpipe"), {2, 1, 2}));
  std::vector<std::string> names;
  for (const PlannedCall &call : plans[1].calls)
    names.push_back(call.name);
  EXPECT_EQ(names, (std::vector<std::string>{"begin.1", "1F0", "1F1", "1B0", "1B1", "update.1",
                                             "last.1"}));
}

// A stage without layers has no calls for microbatches: values are sent past it. A stage with a
// backward pass but no forward pass is refused.
TEST(Plan, SkipsStagesWithoutLayers) {
  Pipeline pipeline{"train.critic", 0, 3, 2, "1f1b", {}, {0, 1}, {}};
  pipeline.fragments = {{"f0", FragmentKind::Forward, 0, 0, {0}, {}, {0}},
                        {"f2", FragmentKind::Forward, 2, 0, {0}, {0}, {}},
                        {"b2", FragmentKind::Backward, 2, 0, {1}, {}, {1}},
                        {"b0", FragmentKind::Backward, 0, 0, {1}, {1}, {}},
                        {"u1", FragmentKind::Update, 1, 0, {}, {}, {}}};
  const auto schedule = schedule::generate(*schedule::findAlgorithm("1f1b"), {3, 1, 2});
  const auto plans = planAll(pipeline, schedule);
  std::mt19937 random(4);
  EXPECT_EQ(simulate(pipeline, plans, random), "");
  ASSERT_EQ(plans[1].calls.size(), 1U);
  EXPECT_EQ(plans[1].calls[0].name, "u1");
  EXPECT_TRUE(plans[1].messages.empty());
  pipeline.fragments.erase(pipeline.fragments.begin());
  EXPECT_THROW(planAll(pipeline, schedule), Fault);
}

// A table whose ranks wait for each other is refused instead of run.
TEST(Plan, RefusesCycles) {
  Pipeline pipeline{"train", 0, 2, 1, "cyclic", {}, {0, 1}, {}};
  pipeline.fragments = {{"f0", FragmentKind::Forward, 0, 0, {0, 1}, {1}, {0}},
                        {"f1", FragmentKind::Forward, 1, 0, {0, 1}, {0}, {1}}};
  schedule::Schedule schedule{2, 1, {0, 1}, {}};
  schedule.ranks = {{{schedule::Kind::Forward, 0, 0}}, {{schedule::Kind::Forward, 1, 0}}};
  EXPECT_THROW(planAll(pipeline, schedule), Fault);
}

} // namespace
