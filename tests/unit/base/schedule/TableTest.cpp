// Schedules are read from comma-separated values and written as such.

#include "base/schedule/Csv.h"
#include "base/schedule/Generators.h"
#include "base/schedule/Passes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace titan::schedule;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

std::string rewritten(std::string_view text) {
  std::vector<ScheduleFault> faults;
  std::string written = writeTable(readTable(text, faults));
  EXPECT_THAT(faults, IsEmpty());
  return written;
}

TEST(Action, HasATextOfItsOwn) {
  for (const char *text : {"2F0", "0I3", "1W2", "1B2", "10SEND_F12", "3RECV_F1", "3SEND_B0",
                           "0RECV_B7", "1UNSHARD", "1RESHARD", "2REDUCE_GRAD"}) {
    std::optional<Action> action = parseAction(text);
    ASSERT_TRUE(action) << text;
    EXPECT_EQ(toText(*action), text);
  }
  for (const char *text : {"", "F0", "2", "2F", "2X0", "-1F0", "2F-1", "2f0", "2F0x", "1UNSHARD3",
                           "99999999999F0", "2 F0"})
    EXPECT_FALSE(parseAction(text)) << text;
}

TEST(Table, IsReadAndWritten) {
  const char *table = "0F0,0F1,,0B0,0B1\n,1F0,1B0,1F1,1B1\n";
  EXPECT_EQ(rewritten(table), table);
  std::vector<ScheduleFault> faults;
  Schedule schedule = readTable(table, faults);
  EXPECT_EQ(schedule.stages, 2);
  EXPECT_EQ(schedule.microbatches, 2);
  EXPECT_THAT(schedule.rankOf, ElementsAre(0, 1));
  EXPECT_EQ(schedule.ranks[1][0].cell, 1);
}

// Python's csv module ends lines by CR LF and pads rows; spaces have no meaning.
TEST(Table, AcceptsOtherForms) {
  EXPECT_EQ(rewritten("0F0, 0I0 ,0W0,,\r\n"), "0F0,0I0,0W0\n");
  EXPECT_EQ(rewritten("0F0,0B0"), "0F0,0B0\n");
}

TEST(Table, HasOverlappedCells) {
  const char *table = "0F0,1F0,0F1,(1F1;1B0)OVERLAP_F_B,0I0,0W0,1B1,0B1\n";
  EXPECT_EQ(rewritten(table), table);
  std::vector<ScheduleFault> faults;
  Row row = readTable(table, faults).ranks[0];
  EXPECT_EQ(row[3].cell, row[4].cell);
  for (const char *cell : {"(0F0;1F0)OVERLAP_F_B", "(0F0)OVERLAP_F_B", "(0F0;1B0;1F1)OVERLAP_F_B",
                           "(0F0;1B0)", "()OVERLAP_F_B", "(OVERLAP_F_B", ")OVERLAP_F_B"}) {
    faults.clear();
    readTable(cell, faults);
    EXPECT_EQ(faults.size(), 1u) << cell;
  }
}

TEST(Table, PointsAtCellsThatAreNoActions) {
  const char *table = "0F0,0B0\n1F0, 1G0 ,1B0\n";
  std::vector<ScheduleFault> faults;
  readTable(table, faults);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].rank, 1);
  EXPECT_EQ(faults[0].cell, 1);
  EXPECT_EQ(faults[0].message, "`1G0` is not an action");
  EXPECT_THAT(faults[0].remedy, HasSubstr("`2F0`"));
  CellText cell = locateCell(table, 1, 1);
  EXPECT_EQ(std::string(table).substr(cell.offset, cell.length), "1G0");
  cell = locateCell(table, 1, -1);
  EXPECT_EQ(std::string(table).substr(cell.offset, cell.length), "1F0, 1G0 ,1B0");
}

// Editors may begin a file with a byte order mark, which nobody sees.
TEST(Table, AcceptsAByteOrderMark) {
  const char *table = "\xEF\xBB\xBF"
                      "0F0,0X0\n";
  std::vector<ScheduleFault> faults;
  EXPECT_EQ(readTable(table, faults).ranks[0].size(), 1u);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].cell, 1);
  EXPECT_EQ(locateCell(table, 0, 0).offset, 3u);
}

TEST(Table, HasNoHeader) {
  std::vector<ScheduleFault> faults;
  readTable("step 0,step 1,step 2\n0F0,0B0\n", faults);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].rank, 0);
  EXPECT_EQ(faults[0].cell, -1);
  EXPECT_THAT(faults[0].message, HasSubstr("a table has no header"));
  EXPECT_THAT(faults[0].remedy, HasSubstr("remove the line"));
}

// A large number in a small table must not allocate memory for what is missing.
TEST(Table, RefusesNumbersBeyondItsSize) {
  std::vector<ScheduleFault> faults;
  Schedule schedule = readTable("0F0,0B0,2000000000F0,0F2000000000\n", faults);
  EXPECT_EQ(faults.size(), 2u);
  EXPECT_EQ(schedule.stages, 1);
  EXPECT_EQ(schedule.microbatches, 1);
}

TEST(Table, OfEveryAlgorithmIsReadAsWritten) {
  for (const Algorithm &algorithm : allAlgorithms()) {
    Schedule schedule = generate(algorithm, {4, algorithm.stagesPerRank, 8});
    for (const Schedule &form : {schedule, alignToTimeSteps(schedule), addTransfers(schedule),
                                 addGradientReductions(addUnshards(schedule, Residency::Step))}) {
      std::string text = writeTable(form);
      EXPECT_EQ(rewritten(text), text) << algorithm.name;
    }
  }
}

// The table of two ranks in time steps, as torch.distributed.pipelining writes it.
TEST(Table, ShowsTimeSteps) {
  Schedule schedule = generate(*findAlgorithm("1f1b"), {2, 1, 3});
  EXPECT_EQ(writeTable(alignToTimeSteps(schedule)), "0F0,0F1,,0B0,0F2,0B1,,0B2\n"
                                                    ",1F0,1B0,1F1,1B1,1F2,1B2\n");
}

} // namespace
