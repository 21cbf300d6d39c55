// The table of a run's options, and the conversion of their values.
#include "compiler/sema/runs/Options.h"

#include <gmock/gmock.h>
#include <set>

namespace titan::sema {
namespace {

class OptionsTest : public ::testing::Test {
protected:
  SourceManager sources;
  DiagnosticEngine diags{sources};

  Value check(const char *path, const Value &value) {
    return checkOption(*findOption(path), value, {}, diags);
  }
};

// No two options have the same path; each has an explanation and accepts its default.
TEST_F(OptionsTest, TableIsConsistent) {
  std::set<std::string> paths;
  for (const OptionSpec &spec : optionTable()) {
    EXPECT_TRUE(paths.insert(spec.path).second) << spec.path;
    EXPECT_NE(std::string(spec.doc), "") << spec.path;
    // Titan declares the default of a dimension, in the file of a model or in the library.
    bool hasDefault = !spec.initial.isError() && spec.type != OptionType::Dimension;
    bool refuses = hasDefault && checkOption(spec, spec.initial, {}, diags).isError();
    EXPECT_FALSE(refuses) << spec.path;
  }
  EXPECT_FALSE(diags.hasErrors());
}

// An option of a number accepts an integer, and converts it to a number.
TEST_F(OptionsTest, IntegersBecomeNumbers) {
  Value clip = check("clip", Value::ofInt(2));
  EXPECT_EQ(clip.kind, Value::Kind::Float);
  EXPECT_EQ(clip.number(), 2.0);
}

// Infinite and negative numbers, fractions of steps and unknown words are refused with a report.
TEST_F(OptionsTest, RefusesValuesOutOfRange) {
  EXPECT_TRUE(check("clip", Value::ofFloat(-1)).isError());
  EXPECT_TRUE(check("optimizer.lr", Value::ofFloat(1.0 / 0.0)).isError());
  EXPECT_TRUE(check("steps", Value::ofFloat(1.5)).isError());
  EXPECT_TRUE(check("on_nonfinite", Value::ofWord("steep")).isError());
  EXPECT_TRUE(check("data.samples", Value::ofWord("")).isError());
  EXPECT_EQ(diags.errorReports(), 5u);
}

} // namespace
} // namespace titan::sema
