// The ranks that keep others waiting, from records of small groups.
#include "base/flight/Diagnosis.h"

#include <gmock/gmock.h>

using namespace titan::flight;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A record of a rank in groups with these calls; the last call of each group has an entry.
static Record makeRecord(int rank, int worldSize, std::vector<GroupCalls> groups) {
  Record record{rank, worldSize, /*failed=*/false, std::move(groups), {}};
  uint64_t number = 0;
  for (size_t i = 0; i < record.groups.size(); ++i)
    record.entries.push_back({++number, 1000, 7, Kind::Begin, static_cast<int>(i),
                              record.groups[i].begun, "m.titan:" + std::to_string(i),
                              "all_reduce"});
  return record;
}

TEST(Diagnosis, NamesTheMemberThatBeganFewerCalls) {
  const std::vector<int> all{0, 1, 2};
  const std::vector<Record> records{makeRecord(0, 3, {{all, 5, 4}}),
                                    makeRecord(1, 3, {{all, 5, 4}}),
                                    makeRecord(2, 3, {{all, 4, 4}})};
  const std::vector<OpenCall> calls = findOpenCalls(records);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].number, 5U);
  EXPECT_THAT(calls[0].waiting, ElementsAre(0, 1));
  EXPECT_THAT(calls[0].missing, ElementsAre(2));
  EXPECT_THAT(findCauses(records, calls), ElementsAre(2));
  EXPECT_THAT(describe(records), HasSubstr("rank 2 kept the others waiting"));
  EXPECT_THAT(describe(records), HasSubstr("ranks 0, 1 wait in call 5 of ranks 0, 1, 2: m.titan:0 "
                                           "all_reduce, step 7\n  rank 2 did not come"));
}

// Rank 0 waits for 1, which waits for 2 in another group: rank 2 is the cause, and its call is
// first.
TEST(Diagnosis, FollowsChainsToARankThatWaitsForNobody) {
  const std::vector<int> low{0, 1}, high{1, 2};
  const std::vector<Record> records{makeRecord(0, 3, {{low, 2, 1}}),
                                    makeRecord(1, 3, {{low, 1, 1}, {high, 9, 8}}),
                                    makeRecord(2, 3, {{high, 8, 8}})};
  const std::vector<OpenCall> calls = findOpenCalls(records);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_THAT(calls[0].missing, ElementsAre(2));
  EXPECT_THAT(findCauses(records, calls), ElementsAre(2));
}

TEST(Diagnosis, NamesARankWithoutARecord) {
  const std::vector<int> all{0, 1};
  const std::vector<Record> records{makeRecord(0, 2, {{all, 1, 0}})};
  EXPECT_THAT(findCauses(records, findOpenCalls(records)), ElementsAre(1));
  EXPECT_THAT(describe(records), HasSubstr("rank 1: no record"));
}

TEST(Diagnosis, BlamesNobodyIfAllHaveCome) {
  const std::vector<int> all{0, 1};
  std::vector<Record> records{makeRecord(0, 2, {{all, 3, 2}}), makeRecord(1, 2, {{all, 3, 2}})};
  EXPECT_THAT(findCauses(records, findOpenCalls(records)), IsEmpty());
  EXPECT_THAT(describe(records), HasSubstr("all members have come"));
  records[0].failed = true; // rank 1 was killed in the call
  EXPECT_THAT(describe(records), HasSubstr("rank 1 kept the others waiting"));
  records = {makeRecord(0, 2, {{all, 3, 3}}), makeRecord(1, 2, {{all, 3, 3}})};
  EXPECT_THAT(describe(records), HasSubstr("no rank waits in a collective"));
}
