// Schedules that a program gives by the name of an algorithm or as a table.

#include "base/schedule/Source.h"
#include "base/schedule/Csv.h"

#include "gmock/gmock.h"

namespace {

using namespace titan::schedule;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Source, NamesAnAlgorithm) {
  const Sizes sizes{.ranks = 4, .stagesPerRank = 1, .microbatches = 6};
  EXPECT_EQ(writeTable(makeSchedule("1f1b", sizes)),
            writeTable(generate(*findAlgorithm("1f1b"), sizes)));
}

// A table has its own sizes, and may have more stages on one rank than on another.
TEST(Source, ReadsATable) {
  const std::string text = "0F0,2F0,2B0,0B0\n1F0,1B0\n";
  const Schedule schedule = makeSchedule(text, {.ranks = 8});
  EXPECT_EQ(writeTable(schedule), text);
  EXPECT_EQ(schedule.stages, 3);
  EXPECT_EQ(schedule.rankOf, std::vector<int>({0, 1, 0}));
}

TEST(Source, RefusesOtherTexts) {
  EXPECT_THAT([] { makeSchedule("2f2b", {}); },
              ThrowsMessage<ScheduleError>(HasSubstr("no schedule `2f2b`")));
  EXPECT_THAT([] { makeSchedule("0F0,0X0\n", {}); },
              ThrowsMessage<ScheduleError>(HasSubstr("`0X0` is not an action")));
  EXPECT_THAT([] { makeSchedule("zbv", {.ranks = 2, .stagesPerRank = 1}); },
              ThrowsMessage<ScheduleError>(HasSubstr("zbv has 2 stages a rank")));
}

TEST(Source, HasWgrad) {
  EXPECT_TRUE(hasWgrad("zb_h1"));
  EXPECT_FALSE(hasWgrad("1f1b"));
  EXPECT_FALSE(hasWgrad("2f2b"));
  EXPECT_TRUE(hasWgrad("0F0,0F1,0B0,0I1,0W1\n"));
  EXPECT_FALSE(hasWgrad("0F0,0B0\n"));
}

} // namespace
