// Tables before and after passes that add transfers, unshards and reductions of gradients.

#include "base/schedule/Passes.h"
#include "base/schedule/Csv.h"
#include "base/schedule/Generators.h"

#include "gtest/gtest.h"

using namespace titan::schedule;

namespace {

Schedule tableToSchedule(std::string_view table) {
  std::vector<ScheduleFault> faults;
  return readTable(table, faults);
}

// A send follows the computation; a receive precedes what its rank starts when the value arrives.
TEST(AddTransfers, AddsSendsAndReceives) {
  Schedule schedule = generate(*findAlgorithm("1f1b"), {2, 1, 2});
  EXPECT_EQ(writeTable(addTransfers(schedule)),
            "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
            "1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1\n");
}

// Stages at the tip of a V are on one rank.
TEST(AddTransfers, MovesNothingWithinARank) {
  Schedule schedule = tableToSchedule("0F0,1F0,1B0,0B0\n");
  EXPECT_EQ(writeTable(addTransfers(schedule)), "0F0,1F0,1B0,0B0\n");
}

TEST(AddTransfers, KeepsOverlappedCells) {
  Schedule schedule = tableToSchedule("0F0,0F1,0B0,0B1\n1F0,(1F1;1B0)OVERLAP_F_B,1B1\n");
  EXPECT_EQ(writeTable(addTransfers(schedule)),
            "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n"
            "1RECV_F0,1F0,1RECV_F1,(1F1;1B0)OVERLAP_F_B,1SEND_B0,1B1,1SEND_B1\n");
}

TEST(AddUnshards, KeepsAStageForTheStep) {
  Schedule schedule = tableToSchedule("0F0,1F0,1I0,0I0,1W0,0W0\n");
  EXPECT_EQ(writeTable(addUnshards(schedule, Residency::Step)),
            "0UNSHARD,0F0,1UNSHARD,1F0,1I0,0I0,1W0,1RESHARD,0W0,0RESHARD\n");
}

// F, I and W of one microbatch that follow one another need one all-gather.
TEST(AddUnshards, KeepsAStageForAMicrobatch) {
  Schedule schedule = tableToSchedule("0F0,0F1,0I0,0W0,0B1\n");
  EXPECT_EQ(writeTable(addUnshards(schedule, Residency::Microbatch)),
            "0UNSHARD,0F0,0RESHARD,0UNSHARD,0F1,0RESHARD,0UNSHARD,0I0,0W0,0RESHARD,"
            "0UNSHARD,0B1,0RESHARD\n");
  schedule = tableToSchedule("0F0,(1F0;0B0)OVERLAP_F_B,1B0\n");
  EXPECT_EQ(writeTable(addUnshards(schedule, Residency::Microbatch)),
            "0UNSHARD,0F0,1UNSHARD,(1F0;0B0)OVERLAP_F_B,0RESHARD,1B0,1RESHARD\n");
}

TEST(AddGradientReductions, FollowTheLastGradient) {
  Schedule schedule = tableToSchedule("0F0,0F1,1F0,1F1,1I0,1B1,0B0,0B1,1W0\n");
  EXPECT_EQ(writeTable(addGradientReductions(schedule)),
            "0F0,0F1,1F0,1F1,1I0,1B1,0B0,0B1,0REDUCE_GRAD,1W0,1REDUCE_GRAD\n");
}

TEST(SelectComputation, LeavesOutCommunicationStorageAndIdleCells) {
  Schedule schedule = generate(*findAlgorithm("dualpipev"), {2, 2, 4});
  Schedule complete = addGradientReductions(addUnshards(addTransfers(schedule), Residency::Step));
  EXPECT_EQ(writeTable(selectComputation(complete)), writeTable(schedule));
  EXPECT_EQ(writeTable(selectComputation(tableToSchedule("0F0,,0B0,0REDUCE_GRAD\n"))), "0F0,0B0\n");
}

TEST(Passes, RefuseToRunTwice) {
  Schedule schedule = generate(*findAlgorithm("1f1b"), {2, 1, 2});
  EXPECT_THROW(addTransfers(addTransfers(schedule)), ScheduleError);
  EXPECT_THROW(addGradientReductions(addGradientReductions(schedule)), ScheduleError);
  Schedule unsharded = addUnshards(schedule, Residency::Step);
  EXPECT_THROW(addUnshards(unsharded, Residency::Step), ScheduleError);
  EXPECT_THROW(alignToTimeSteps(unsharded), ScheduleError);
}

TEST(Generate, RefusesUndefinedSizes) {
  auto message = [](const char *name, Sizes sizes) {
    try {
      generate(*findAlgorithm(name), sizes);
      return std::string();
    } catch (const ScheduleError &error) {
      return std::string(error.what()) + "; " + error.remedy;
    }
  };
  EXPECT_EQ(message("dualpipev", {4, 2, 7}),
            "dualpipev on 4 ranks needs at least 8 microbatches, not 7; take 8 microbatches or "
            "more, or zbv, which takes any number");
  EXPECT_EQ(message("1f1b", {4, 2, 7}),
            "1f1b has 1 stage a rank, not 2; leave out the number of stages, or use "
            "interleaved_1f1b, looped_bfs or interleaved_zb, which take any number");
  EXPECT_NE(message("gpipe", {2000000000, 1, 2000000000}), "");
  EXPECT_EQ(findAlgorithm("gpip"), nullptr);
}

} // namespace
