// Infinite numbers in texts of JSON, as Python writes them.
#include "base/text/JsonInfinity.h"

#include <gtest/gtest.h>

#include <limits>

namespace titan {

TEST(JsonInfinityTest, MarksHaveTheLengthOfTheNumber) {
  EXPECT_EQ(markInfinities(R"({"a": [0.0, Infinity], "b": -Infinity})"),
            R"({"a": [0.0, "\u0001"], "b": "\u0002" })");
}

TEST(JsonInfinityTest, StringsStay) {
  for (const char *text : {R"({"Infinity": "-Infinity"})", R"(["\" Infinity", "\\"])",
                           R"(["Infinity)", R"(["\)", "", R"({"a": 1e5, "b": "ab"})"})
    EXPECT_EQ(markInfinities(text), text);
  EXPECT_EQ(markInfinities(R"(["\\",Infinity])"), R"(["\\","\u0001"])");
}

TEST(JsonInfinityTest, MarksBecomeNumbersAgain) {
  const std::string text = R"({"a": [0.0, Infinity], "b": -Infinity, "c": "Infinity"})";
  std::string marked = markInfinities(text);
  marked.erase(marked.find("\\u0002\" ") + 7, 1); // a writer has its own spaces
  EXPECT_EQ(unmarkInfinities(marked), text);
}

TEST(JsonInfinityTest, NamesAndMarks) {
  EXPECT_EQ(parseInfinity("-Infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parseInfinity("infinity"), std::nullopt);
  for (const char *name : {"Infinity", "-Infinity"})
    EXPECT_EQ(getMarkedName(getMark(name)), name);
  EXPECT_EQ(getMark("NaN"), "");
  EXPECT_EQ(getMarkedName("Infinity"), "");
}

} // namespace titan
