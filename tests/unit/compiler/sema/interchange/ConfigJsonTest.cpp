// Reading and writing of config.json.
#include "compiler/sema/interchange/ConfigJson.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace titan::sema {
namespace {

struct Read {
  explicit Read(std::string text)
      : file(sources.addBuffer("config.json", std::move(text))),
        value(readConfigJson(file, sources, diags)) {}

  std::string error() const { return diags.all().empty() ? "" : diags.all().front().message; }
  Location location() const { return diags.all().front().location; }

  SourceManager sources;
  DiagnosticEngine diags{sources};
  FileId file;
  std::optional<ConfigValue> value;
};

// Each member has its value and the location of its key.
TEST(ConfigJsonTest, ReadsMembersWithLocations) {
  Read read("{\n  \"a\": 1,\n  \"b\\\"c\": {\"d\": [1.5, true, null, \"x\"]}\n}\n");
  ASSERT_TRUE(read.value);
  const ConfigValue &a = read.value->members.at("a"), &b = read.value->members.at("b\"c");
  EXPECT_EQ(a.value, Value::ofInt(1));
  EXPECT_EQ(read.sources.text(a.loc), "\"a\"");
  EXPECT_EQ(b.loc.line, 3u);
  EXPECT_EQ(read.sources.text(b.loc), "\"b\\\"c\"");
  EXPECT_TRUE(b.isObject);
  Value list = Value::ofList(
      {Value::ofFloat(1.5), Value::ofBool(true), Value::none(), Value::ofString("x")});
  EXPECT_EQ(b.members.at("d").value, list);
}

// Objects within lists are read, and the list has no value.
TEST(ConfigJsonTest, ReadsListsOfObjects) {
  Read read(R"({"a": [{"x": [1, {"y": 2}]}, 3], "b": 4})");
  ASSERT_TRUE(read.value);
  EXPECT_TRUE(read.value->members.at("a").value.isError());
  EXPECT_EQ(read.value->members.at("b").value, Value::ofInt(4));
  EXPECT_EQ(read.value->members.size(), 2u);
}

// A mistake has its location and reason.
TEST(ConfigJsonTest, RefusesOtherText) {
  for (const char *text : {"", "{", "{\"a\": }", "{\"a\": 1,}", "{\"a\": 01}",
                           "\x7f"
                           "ELF",
                           "{} {}", "{\"a\": \"\xff\"}", "{\"a\": 1e999}"}) {
    Read read(text);
    EXPECT_FALSE(read.value) << text;
    EXPECT_EQ(read.error().rfind("this is not JSON: ", 0), 0u) << read.error();
  }
  Read twice("{\"a\": 1,\n \"a\": 2}");
  EXPECT_EQ(twice.error(), "`a` occurs twice in one object");
  EXPECT_EQ(twice.location().line, 2u);
  EXPECT_EQ(Read("[1]").error(), "a configuration is one object, not a list");
  EXPECT_EQ(Read("3").error(), "a configuration is one object, not 3");
  EXPECT_EQ(Read("{\"a\": 9223372036854775808}").error(), "this number does not fit into 64 bits");
}

// No nesting exhausts the stack.
TEST(ConfigJsonTest, BoundsNesting) {
  EXPECT_EQ(Read("{\"a\": " + std::string(1000000, '[')).error(),
            "this nests deeper than 32 levels");
}

// A written file is read as the same value.
TEST(ConfigJsonTest, WritesTheTextItReads) {
  const std::string text = "{\n  \"a\": 1e-05,\n  \"b\": {\n    \"c\": null\n  },\n  \"d\": [\n"
                           "    \"x\",\n    true,\n    500000.0\n  ]\n}\n";
  Read read(text);
  ASSERT_TRUE(read.value);
  EXPECT_EQ(toJson(*read.value).value().dump(2) + "\n", text);
}

} // namespace
} // namespace titan::sema
