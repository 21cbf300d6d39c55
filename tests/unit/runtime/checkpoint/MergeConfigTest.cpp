// The config.json of an export, from that of its source and the equations of the program.
#include "checkpoint/MergeConfig.h"

#include <gtest/gtest.h>

using Json = nlohmann::ordered_json;

namespace titan::rt {
namespace {

constexpr int64_t positions = 16;

/// An equation with the keys `a` or `b.c`.
Json equation(Json value, bool isOptional = false, bool readsLength = false) {
  return {{"keys", Json::parse(R"([["a"], ["b", "c"]])")},
          {"value", std::move(value)},
          {"optional", isOptional},
          {"nullable", isOptional},
          {"length", readsLength}};
}

std::string merge(const char *source, Json line) {
  return mergeConfig(Json::parse(source), Json::array({std::move(line)}), positions).dump();
}

TEST(MergeConfigTest, KeysWithTheValueStayAsTheyAreWritten) {
  EXPECT_EQ(merge(R"({"z":1,"a":2.0})", equation(2)), R"({"z":1,"a":2.0})");
  EXPECT_EQ(merge(R"({"b":{"c":1e-05},"d":null})", equation(0.00001)),
            R"({"b":{"c":1e-05},"d":null})");
  EXPECT_EQ(merge(R"({"a":[1,2.0]})", equation(Json::array({1.0, 2}))), R"({"a":[1,2.0]})");
}

// The forms of Python and of transformers 5; a new value has the form of the source.
TEST(MergeConfigTest, InfinityStaysAsItIsWritten) {
  const Json infinity = {{"__float__", "Infinity"}};
  const char *python = R"({"a":[0.0,"\u0001"]})",
             *tagged = R"({"a":[0.0,{"__float__":"Infinity"}]})";
  for (const char *source : {python, tagged})
    EXPECT_EQ(merge(source, equation(Json::array({0, infinity}))), source);
  EXPECT_EQ(merge(python, equation(Json::array({1, infinity}))), R"({"a":[1,"\u0001"]})");
  EXPECT_EQ(merge(tagged, equation(Json::array({1, infinity}))),
            R"({"a":[1,{"__float__":"Infinity"}]})");
  EXPECT_EQ(merge(python, equation(Json::array({1, 2}))), R"({"a":[1,2]})");
}

TEST(MergeConfigTest, OtherValuesAreReplaced) {
  EXPECT_EQ(merge(R"({"z":1,"a":3})", equation(2)), R"({"z":1,"a":2})");
  EXPECT_EQ(merge(R"({"a":2,"b":{"c":3,"d":4}})", equation(2)), R"({"a":2,"b":{"c":2,"d":4}})");
  EXPECT_EQ(merge(R"({"a":"2"})", equation(2)), R"({"a":2})");
  EXPECT_EQ(merge(R"({"a":{"x":1}})", equation(2)), R"({"a":2})");
}

TEST(MergeConfigTest, AbsentKeysAreWrittenUnlessOptional) {
  EXPECT_EQ(merge("{}", equation(2)), R"({"a":2})");
  EXPECT_EQ(merge(R"({"b":5})", equation(nullptr)), R"({"b":5,"a":null})");
  EXPECT_EQ(merge(R"({"a":null})", equation(2)), R"({"a":2})");
  EXPECT_EQ(merge("{}", equation(2, /*isOptional=*/true)), "{}");
  EXPECT_EQ(merge(R"({"a":null})", equation(2, /*isOptional=*/true)), R"({"a":null})");
  Json other = equation(2, /*isOptional=*/true);
  other["nullable"] = false; // `default 2 unless none`
  EXPECT_EQ(merge(R"({"a":null})", other), R"({"a":2})");
  EXPECT_EQ(merge("{}", other), "{}");
  EXPECT_EQ(merge(R"({"a":null,"b":{"c":2}})", equation(2)), R"({"a":null,"b":{"c":2}})");
}

// A new key goes to the first object that exists.
TEST(MergeConfigTest, NewKeysJoinExistingObjects) {
  Json line = equation(2);
  line["keys"] = Json::parse(R"([["x","c"], ["b","c"]])");
  EXPECT_EQ(merge(R"({"b":{"d":1}})", line), R"({"b":{"d":1,"c":2}})");
  EXPECT_EQ(merge("{}", line), R"({"x":{"c":2}})");
  EXPECT_EQ(merge(R"({"x":null})", line), R"({"x":{"c":2}})");
}

TEST(MergeConfigTest, TheLongestContextIsNotTheLengthOfTheRun) {
  const Json line = equation(positions, false, /*readsLength=*/true);
  EXPECT_EQ(merge(R"({"a":131072})", line), R"({"a":131072})");
  EXPECT_EQ(merge("{}", line), "{}");
  EXPECT_EQ(merge(R"({"a":8})", line), R"({"a":16})");
}

/// `optional scaling or rope unless type == "default" { type = "linear"; factor = FACTOR }`
Json scaling(double factor) {
  return {{"keys", Json::parse(R"([["scaling"], ["rope"]])")},
          {"written", factor != 1},
          {"absentKey", Json::array({"type"})},
          {"absentValue", "default"},
          {"lines", Json::array({{{"keys", Json::parse(R"([["type"]])")},
                                  {"value", "linear"},
                                  {"optional", true},
                                  {"nullable", true},
                                  {"length", false}},
                                 {{"keys", Json::parse(R"([["factor"]])")},
                                  {"value", factor},
                                  {"optional", false},
                                  {"nullable", false},
                                  {"length", false}}})}};
}

TEST(MergeConfigTest, ObjectsStayIfTheyAgree) {
  for (const char *source :
       {R"({"rope":{"type":"linear","factor":8,"theta":5}})", R"({"scaling":{"factor":8.0}})"})
    EXPECT_EQ(merge(source, scaling(8)), source);
  for (const char *source :
       {"{}", R"({"scaling":null})", R"({"rope":{"type":"default","theta":5}})",
        R"({"rope":{"theta":5,"factor":1.0}})"})
    EXPECT_EQ(merge(source, scaling(1)), source);
}

TEST(MergeConfigTest, ObjectsComeAndGo) {
  EXPECT_EQ(merge("{}", scaling(8)), R"({"scaling":{"type":"linear","factor":8.0}})");
  EXPECT_EQ(merge(R"({"scaling":null})", scaling(8)),
            R"({"scaling":{"type":"linear","factor":8.0}})");
  EXPECT_EQ(merge(R"({"rope":{"type":"default","theta":5}})", scaling(8)),
            R"({"rope":{"type":"linear","theta":5,"factor":8.0}})");
  EXPECT_EQ(merge(R"({"rope":{"type":"linear","theta":5,"factor":4}})", scaling(8)),
            R"({"rope":{"type":"linear","theta":5,"factor":8.0}})");
  EXPECT_EQ(merge(R"({"rope":{"type":"linear","theta":5,"factor":4}})", scaling(1)),
            R"({"rope":{"theta":5,"type":"default"}})");
  EXPECT_EQ(merge(R"({"scaling":{"type":"linear","factor":4}})", scaling(1)),
            R"({"scaling":null})");
}

// `optional scaling or rope { type = KIND default "default"; factor = FACTOR default none }`
TEST(MergeConfigTest, ObjectsOfAnotherKindLoseItsKeys) {
  auto scaled = [](const char *kind, Json factor) {
    const bool isDefault = std::string(kind) == "default";
    Json line = scaling(isDefault ? 1 : 8);
    line.erase("absentKey");
    line["lines"][0]["value"] = kind;
    line["lines"][0]["optional"] = isDefault;
    line["lines"][1]["optional"] = factor.is_null();
    line["lines"][1]["value"] = std::move(factor);
    return line;
  };
  const char *source = R"({"rope":{"type":"linear","theta":5,"factor":4}})";
  EXPECT_EQ(merge(source, scaled("default", nullptr)), R"({"rope":{"type":"default","theta":5}})");
  EXPECT_EQ(merge(source, scaled("other", nullptr)), R"({"rope":{"type":"other","theta":5}})");
  EXPECT_EQ(merge("{}", scaled("other", nullptr)), R"({"scaling":{"type":"other"}})");
  EXPECT_EQ(merge("{}", scaled("default", nullptr)), "{}");
}

} // namespace
} // namespace titan::rt
