// Invalid schedules have faults that name their cells.

#include "base/schedule/Verify.h"
#include "base/schedule/Csv.h"
#include "base/schedule/Generators.h"
#include "base/schedule/Passes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace titan::schedule;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

std::vector<ScheduleFault> verifyTable(std::string_view table) {
  std::vector<ScheduleFault> faults;
  Schedule schedule = readTable(table, faults);
  EXPECT_THAT(faults, IsEmpty());
  return verify(schedule);
}

/// Expects one fault in a cell.
void expectFault(std::string_view table, int rank, int cell, std::string_view message,
                 std::string_view remedy) {
  std::vector<ScheduleFault> faults = verifyTable(table);
  ASSERT_EQ(faults.size(), 1u) << table;
  EXPECT_EQ(faults[0].rank, rank) << table;
  EXPECT_EQ(faults[0].cell, cell) << table;
  EXPECT_THAT(faults[0].message, HasSubstr(std::string(message)));
  EXPECT_THAT(faults[0].remedy, HasSubstr(std::string(remedy)));
}

TEST(Verify, AcceptsEverySchedule) {
  for (const Algorithm &algorithm : allAlgorithms())
    for (int ranks : {1, 2, 3, 4, 7})
      for (int microbatches : {1, 2, 3, 5, 8, 14, 17})
        for (int stages : {1, 2, 3, 4}) {
          const bool isDefined = (algorithm.isLooped || stages == algorithm.stagesPerRank) &&
                                 (algorithm.name != "dualpipev" || microbatches >= 2 * ranks);
          const Sizes sizes{ranks, stages, microbatches};
          if (!isDefined) {
            EXPECT_THROW(generate(algorithm, sizes), ScheduleError);
            continue;
          }
          const Schedule schedule = generate(algorithm, sizes);
          const Schedule unsharded = addUnshards(schedule, Residency::Microbatch);
          for (const Schedule &form :
               {schedule, addTransfers(schedule), addTransfers(addGradientReductions(unsharded)),
                addUnshards(addGradientReductions(addTransfers(schedule)), Residency::Step)})
            EXPECT_THAT(verify(form), IsEmpty())
                << algorithm.name << ' ' << ranks << ' ' << stages << ' ' << microbatches;
        }
}

TEST(Verify, FindsMissingActions) {
  expectFault("0F0,0F1,0B0\n", 0, -1, "rank 0 never runs `0B1`", "or `0I1` and `0W1`");
  expectFault("0F0,0I0\n", 0, -1, "rank 0 never runs `0W0`", "add it");
  expectFault("0B0\n", 0, -1, "rank 0 never runs `0F0`", "add it");
  expectFault("0F0,0B0,2F0,2B0\n", -1, -1, "no rank has stage 1", "without gaps");
  expectFault("0F0,0B0\n\n", 1, -1, "rank 1 has no actions", "remove the line");
  expectFault("", -1, -1, "the table has no rows", "one line a rank");
}

TEST(Verify, FindsRepeatedActions) {
  expectFault("0F0,0F0,0B0\n", 0, 1, "`0F0` is repeated", "the first one is in column 1");
  expectFault("0F0,0B0,0W0\n", 0, 2, "computes again what `0B0` (rank 0, column 2) computes",
              "replace `0B0` by I and W");
  expectFault("0F0,1F0,1B0,0B0,0F1,1F1,0B1\n1B1\n", 1, 0, "`1B1` is on rank 1, but stage 1 is on",
              "move it to rank 0");
}

// A stage is where most of its actions are: the one elsewhere is at fault, whichever comes first.
TEST(Verify, FindsMisplacedActions) {
  expectFault("0F0,0F1,0B0,0B1,1F0\n1F0,1B0,1F1,1B1\n", 0, 4,
              "`1F0` is on rank 0, but stage 1 is on rank 1",
              "remove it: `1F0` (rank 1, column 1) is the one of its stage");
  expectFault("1F0,0F0,0F1,0B0,0B1\n1B0,1F1,1B1\n", 0, 0, "but stage 1 is on rank 1",
              "move it to rank 1");
}

// A number that is too high makes one action wrong, not all others incomplete.
TEST(Verify, FindsStrayNumbers) {
  // The last rank of Schedule1F1B in PyTorch, whose table begins with 1F1 and ends with 1F4.
  expectFault("0F0,0F1,0B0,0F2,0B1,0F3,0B2,0B3\n1F1,1B0,1F2,1B1,1F3,1B2,1F4,1B3\n", 1, 6,
              "`1F4` has microbatch 4, of which the table has 1 action; other numbers have 4",
              "number it below 4, or add the other actions of microbatch 4");
  expectFault("0F0,0F1,0B0,0B1\n1F0,2B0,1F1,1B1\n", 1, 1,
              "`2B0` has stage 2, of which the table has 1 action; other numbers have 4",
              "number it below 2");
}

TEST(Verify, FindsWrongOrder) {
  expectFault("0B0,0F0\n", 0, 0, "reads the result of `0F0` (rank 0, column 2)",
              "move it behind column 2");
  expectFault("0F0,0W0,0I0\n", 0, 1, "reads the result of `0I0`", "move it behind column 3");
  expectFault("0F0,1F0,0B0,1B0\n", 0, 2, "reads the result of `1B0`", "move it behind column 4");
  expectFault("0F0,(1F0;1B0)OVERLAP_F_B,0B0\n", 0, 1, "which does not precede it", "column 2");
}

// With sends and receives in the table, every value that another rank reads needs both.
TEST(Verify, FindsWrongTransfers) {
  const char *right = "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n";
  EXPECT_THAT(verifyTable(right), IsEmpty());
  expectFault("0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", 0, 0,
              "rank 1 reads the result of `0F0`, which is never sent", "add `0SEND_F0` behind it");
  expectFault("0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1B0,1SEND_B0\n", 1, -1,
              "rank 1 never receives the result of `0F0` (rank 0, column 1)", "add `1RECV_F0`");
  expectFault("0F0,0SEND_F0,0RECV_B0,0B0\n1F0,1RECV_F0,1B0,1SEND_B0\n", 1, 0,
              "`1F0` reads the result of `1RECV_F0`", "move it behind column 2");
  expectFault("0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", 0, 0,
              "`0SEND_F0` reads the result of `0F0`", "move it behind column 2");
  expectFault("0F0,0SEND_F0,0RECV_B0,0B0,0SEND_B0\n1RECV_F0,1F0,1B0,1SEND_B0\n", 0, 4,
              "stage 0 is at the end of the pipeline", "remove it");
  expectFault("0F0,0SEND_F0,1F0,1B0,0B0\n", 0, 1, "both stages are on rank 0", "remove it");
  expectFault("0RECV_F0,0F0,0B0\n", 0, 0, "`0RECV_F0` has no peer", "remove it");
}

TEST(Verify, FindsUnbalancedStorage) {
  EXPECT_THAT(verifyTable("0UNSHARD,0F0,0B0,0RESHARD,0REDUCE_GRAD\n"), IsEmpty());
  expectFault("0UNSHARD,0F0,0B0\n", 0, 0, "stage 0 stays unsharded", "add `0RESHARD`");
  expectFault("0UNSHARD,0UNSHARD,0F0,0B0,0RESHARD\n", 0, 1, "without RESHARD between them",
              "remove it");
  expectFault("0UNSHARD,0F0,0B0,0RESHARD,0RESHARD\n", 0, 4, "stage 0 is not unsharded here",
              "remove it");
  expectFault("0UNSHARD,0F0,0RESHARD,0B0\n", 0, 3, "while the parameters of stage 0 are sharded",
              "add `0UNSHARD` before it");
  expectFault("0F0,0REDUCE_GRAD,0B0\n", 0, 1, "precedes the gradient of `0B0`",
              "move it behind column 3");
  expectFault("0F0,0B0,0REDUCE_GRAD,0REDUCE_GRAD\n", 0, 3, "is repeated", "once a step");
  expectFault("0F0,1F0,1B0,0B0,0REDUCE_GRAD\n", 0, -1, "rank 0 never runs `1REDUCE_GRAD`",
              "add it behind `1B0`");
}

// Both ranks compute in a legal order each, but wait for one another.
TEST(Verify, FindsDeadlocks) {
  expectFault("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n", 0, 1,
              "deadlock: `0B0` (rank 0, column 2) waits for `1B0` (rank 1, column 3), behind "
              "`1F1` (rank 1, column 2), which waits for `0F1` (rank 0, column 3)",
              "move `1B0` before `1F1` (rank 1, column 2)");
  // The fault is where the order of a rank delays what another one waits for.
  expectFault("0F0,3F0,0B0,3B0\n1F0,1B0\n2F0,2B0\n", 2, 1,
              "deadlock: `2B0` (rank 2, column 2) waits for `3B0` (rank 0, column 4), behind `0B0` "
              "(rank 0, column 3), which waits for `1B0` (rank 1, column 2), which waits for `2B0`",
              "move `3B0` before `0B0` (rank 0, column 3)");
  // Sends that are legal only if they do not block.
  expectFault("0F0,0F1,0SEND_F0,0SEND_F1,0RECV_B0,0RECV_B1,0B0,0B1\n"
              "1RECV_F1,1RECV_F0,1F0,1F1,1B0,1SEND_B0,1B1,1SEND_B1\n",
              0, 2, "deadlock: `0SEND_F0` (rank 0, column 3) waits for `1RECV_F0`",
              "move `1RECV_F0` before `1RECV_F1`");
}

TEST(Verify, FindsTheCellThatExceedsTheMemory) {
  const Schedule schedule = generate(*findAlgorithm("gpipe"), {2, 1, 4});
  MemoryLimit limit{{{.persistent = 100, .wgradStash = 10}, {.persistent = 50, .wgradStash = 10}},
                    130};
  std::vector<ScheduleFault> faults = verify(schedule, limit);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].rank, 0);
  EXPECT_EQ(faults[0].cell, 3);
  EXPECT_THAT(faults[0].message,
              HasSubstr("rank 0 needs 140 bytes with `0F3` (rank 0, column 4), and has 130"));
  EXPECT_THAT(verify(generate(*findAlgorithm("1f1b"), {2, 1, 4}), limit), IsEmpty());
}

// A large broken table has a short list of faults.
TEST(Verify, StopsAfterSomeFaults) {
  std::string table;
  for (int i = 0; i < 1000; ++i)
    table += "0F" + std::to_string(i) + ",";
  EXPECT_EQ(verifyTable(table).size(), 20u);
}

} // namespace
