// Parsing of data paths: mixtures by weight, and named evaluation sets.
#include "base/data/DataPaths.h"

#include <gtest/gtest.h>

using namespace titan;

namespace {

/// "(0.7 web)(0.3 code)", "(web=a)", or the mistake.
std::string print(const std::string &text) {
  const DataPaths found = parseDataPaths(text);
  EXPECT_EQ(found.paths.empty(), !found.mistake.empty());
  std::string all = found.mistake;
  for (const auto &[path, weight, name] : found.paths)
    all += "(" + (name.empty() ? std::to_string(weight) + " " : name + "=") + path + ")";
  return all;
}

TEST(DataPaths, MixturesAreWeightsAndPathsInTurn) {
  EXPECT_EQ(print("web"), "(1.000000 web)");
  EXPECT_EQ(print("0.7 web 0.3 code"), "(0.700000 web)(0.300000 code)");
  EXPECT_EQ(print("  2 a\t1e1 b  "), "(2.000000 a)(10.000000 b)");
  EXPECT_EQ(print("2024 data"), "(1.000000 2024 data)") << "a path with a space";
  EXPECT_EQ(print("my web 0.3 code"), "(1.000000 my web 0.3 code)");
}

TEST(DataPaths, NamesTheMistakeOfAMixture) {
  EXPECT_EQ(print("0.7 web 0.3 code 0.1"), "the weight `0.1` has no path");
  EXPECT_EQ(print("0.7 web code 0.3"), "`code` is not a weight");
  EXPECT_EQ(print("1 a 1x b"), "`1x` is not a weight");
  for (const std::string weight : {"0", "-1", "nan", "inf", "1e400", "1e-400"}) {
    EXPECT_EQ(print("1 a " + weight + " b"),
              "the weight `" + weight + "` of `b` must be a positive, finite number");
    EXPECT_EQ(print(weight + " a 1 b"),
              "the weight `" + weight + "` of `a` must be a positive, finite number");
  }
}

TEST(DataPaths, EvaluationSetsAreNamesAndPaths) {
  EXPECT_EQ(print("web=valid/web"), "(web=valid/web)");
  EXPECT_EQ(print(" web-2=a  code_3=b=c "), "(web-2=a)(code_3=b=c)");
  EXPECT_EQ(print("./web=a"), "(1.000000 ./web=a)") << "a path";
  EXPECT_EQ(print("in/web=a b=c"), "(1.000000 in/web=a b=c)") << "a path";
}

TEST(DataPaths, NamesTheMistakeOfSets) {
  EXPECT_EQ(print("web=a b"), "`b` has no name");
  EXPECT_EQ(print("web=a web=b"), "two sets have the name `web`");
  EXPECT_EQ(print("web= code=b"), "`web` has no path");
  EXPECT_EQ(print("w.b=a"),
            "the name `w.b` has characters other than letters, digits, `_` and `-`");
  EXPECT_EQ(print("=a"), "the name `` has characters other than letters, digits, `_` and `-`");
}

TEST(DataPaths, RecognisesMalformedMixtures) {
  EXPECT_EQ(findMixtureMistake("0.7 my.jsonl 0.3"), "the weight `0.3` has no path");
  EXPECT_EQ(findMixtureMistake("1 pairs"), "`pairs` is its only set, and needs no weight");
  EXPECT_EQ(findMixtureMistake("-1 pairs"),
            "the weight `-1` of `pairs` must be a positive, finite number");
  EXPECT_EQ(findMixtureMistake("0.7 web code"), "`code` is not a weight");
  for (const char *text : {"my.jsonl", "0.7", "my 0.7 file", ""})
    EXPECT_EQ(findMixtureMistake(text), "") << text;
}

TEST(DataPaths, MapsPathsAlone) {
  auto inFolder = [](const std::string &path) { return "in/" + path; };
  EXPECT_EQ(mapPaths("my web", inFolder), "in/my web");
  EXPECT_EQ(mapPaths("0.70 web 0.3 code", inFolder), "0.70 in/web 0.3 in/code");
  EXPECT_EQ(mapPaths("web=a code=b", inFolder), "web=in/a code=in/b");
  EXPECT_EQ(mapPaths("web=a", inFolder), "web=in/a");
  EXPECT_EQ(mapPaths("0.7 web 0.3 code 1", inFolder), "0.7 web 0.3 code 1");
}

} // namespace
