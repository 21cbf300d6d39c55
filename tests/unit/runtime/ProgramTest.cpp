// Degrees of a mesh, the table of a program, its learning rate, choice of tokens, and settings.
#include "base/Error.h"
#include "settings/Degrees.h"
#include "titan/runtime/program_table.h"

#include "generation/Sampling.h"
#include "settings/LearningRate.h"
#include "settings/Settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

using namespace titan;
using namespace titan::rt;

namespace {

std::string refusal(const std::vector<Axis> &mesh, int64_t ranks) {
  try {
    resolveDegrees(mesh, ranks, "./prog");
  } catch (const UserError &error) {
    return error.what();
  }
  return "accepted";
}

// A wrong number of processes is refused with exactly the promised message.
TEST(Degrees, WrongNumberOfRanks) {
  EXPECT_EQ(refusal({{"shard", 2}, {"tp", 2}}, 1),
            "needs 4 ranks (shard 2 x tp 2), launched with 1; try: torchrun --no-python "
            "--nproc-per-node 4 ./prog");
  EXPECT_EQ(refusal({{"shard", 0}, {"tp", 2}}, 3),
            "needs a multiple of 2 ranks (shard auto x tp 2), launched with 3; try: torchrun "
            "--no-python --nproc-per-node 2 ./prog");
  EXPECT_EQ(refusal({}, 2), "needs 1 rank, launched with 2; try: ./prog");
  EXPECT_EQ(refusal({{"shard", 2}, {"tp", 2}}, 4), "accepted");
}

// The automatic axis takes the remaining ranks.
TEST(Degrees, Auto) {
  std::vector<Axis> mesh{{"pp", 2}, {"shard", 0}, {"tp", 4}};
  EXPECT_EQ(resolveDegrees(mesh, 24, ""), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(resolveDegrees(mesh, 8, ""), (std::vector<int64_t>{2, 1, 4}));
  std::vector<Axis> two{{"a", 0}, {"b", 0}};
  EXPECT_EQ(resolveDegrees(two, 6, ""), (std::vector<int64_t>{6, 1}));
}

// The emitted table determines the program; omitted fields have their defaults.
TEST(ProgramTable, Rows) {
  static constexpr List<TensorRow> tensors = {
      {.role = Role::Parameter,
       .name = "layers.w",
       .info = {DType::F64, {{"layers", 3, {}}, {"embed", 8, {1}, 2}}, {0, 1}, 1},
       .allocation = 4,
       .stacked = true,
       .iterations = {{0, 2, 4}},
       .init = Init::Normal,
       .scale = {0.5, 0.25, 0.125},
       .cut = 3.0},
      {.role = Role::Scalar, .name = "lr", .info = {DType::F32, {}, {}, 0}, .allocation = 5}};
  Program p;
  setTensors(p, tensors);
  setPersistent(p, {{"layers.w", 192, 0, 0}});
  addFunction(p, {"train", {{"x", 64, 1, 7}}, 9, nullptr, {{{0}, {1, 2}, 2, 3, {{1, 0}}, {}}}});
  ASSERT_EQ(p.tensors.size(), 2u);
  const Tensor &weight = p.tensors[0];
  EXPECT_EQ(weight.name, "layers.w");
  EXPECT_EQ(weight.info.dims[1].name, "embed");
  EXPECT_EQ(weight.info.dims[1].axes, std::vector<int>{1});
  EXPECT_EQ(weight.info.dims[1].padding, 2);
  EXPECT_EQ(weight.info.flatAxes, (std::vector<int>{0, 1}));
  EXPECT_EQ(weight.iterations, (std::vector<std::vector<int64_t>>{{0, 2, 4}}));
  EXPECT_EQ(weight.scale, (std::vector<double>{0.5, 0.25, 0.125}));
  EXPECT_EQ(p.tensors[1].scale, std::vector<double>{0});
  EXPECT_EQ(p.tensors[1].function, "");
  EXPECT_EQ(p.persistent[0].bytes, 192);
  EXPECT_EQ(p.functions[0].transient[0].last, 7);
  EXPECT_EQ(p.functions[0].stackOverlaps[0].produced, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(p.functions[0].stackOverlaps[0].producedAbove[0].below, 1);
}

// The schedule gets the step, the steps of the run, and the settings of the launch: a word as the
// index of its choice.
TEST(LearningRateTest, ArgumentsOfTheSchedule) {
  Program program;
  program.settings = {{"optimizer.lr", "0.5", false, allowNumbersFrom(0)},
                      {"schedule.to", "0.25", false, allowNumbersWithin(0, 1)},
                      {"schedule.decay", "cosine", false, allowWords({"linear", "cosine"})}};
  program.schedule = {{"schedule.decay", "steps", "schedule.to", "step"},
                      [](const double *x) { return 1000 * x[0] + 100 * x[1] + x[2] + 10 * x[3]; }};
  EXPECT_EQ(LearningRate(program.schedule, Settings(program)).at(3, 20), 0.5 * 3030.25);
  Settings changed(program);
  changed.set(readPair("schedule.decay=linear", "--set"));
  changed.set(readPair("schedule.to=1", "--set"));
  EXPECT_EQ(LearningRate(program.schedule, changed).at(3, 20), 0.5 * 2031);
}

// A program without a schedule keeps its learning rate.
TEST(LearningRateTest, WithoutSchedule) {
  Program program;
  program.settings = {{"optimizer.lr", "0.5", false, allowNumbersFrom(0)}};
  EXPECT_EQ(LearningRate(program.schedule, Settings(program)).at(3, 20), 0.5);
}

// Greedy selection takes the first largest logit; sampling follows the probabilities.
TEST(ChooseToken, GreedyAndSampled) {
  std::vector<double> logits{0, std::log(3.0), std::log(3.0), -1e9};
  EXPECT_EQ(chooseToken(logits, {0}, 0.99), 1);
  EXPECT_EQ(chooseToken(logits, {1}, 0.1), 0);  // [0, 1/7)
  EXPECT_EQ(chooseToken(logits, {1}, 0.2), 1);  // [1/7, 4/7)
  EXPECT_EQ(chooseToken(logits, {1}, 0.99), 2); // [4/7, 1)
  EXPECT_EQ(chooseToken(logits, {0.01}, 0.1), 1) << "a low temperature is nearly greedy";
}

// Logits that are no numbers are an error, not a text; a model may exclude tokens by -inf.
TEST(ChooseToken, RefusesWhatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (double temperature : {0.0, 1.0}) {
    EXPECT_THROW(chooseToken({0, std::nan(""), 1}, {temperature}, 0.5), UserError);
    EXPECT_THROW(chooseToken({std::nan(""), std::nan("")}, {temperature}, 0.5), UserError);
    EXPECT_THROW(chooseToken({0, infinity}, {temperature}, 0.5), UserError);
    EXPECT_THROW(chooseToken({-infinity, -infinity}, {temperature}, 0.5), UserError);
    EXPECT_EQ(chooseToken({-infinity, 2, -infinity}, {temperature}, 0.5), 1);
  }
}

/// The tokens that can be drawn.
std::set<int64_t> drawn(const std::vector<double> &logits, const Sampling &sampling) {
  std::set<int64_t> tokens;
  for (int i = 0; i < 1000; ++i)
    tokens.insert(chooseToken(logits, sampling, i / 1000.0));
  return tokens;
}

// Probabilities 0.1, 0.5, 0.2, 0.2: limits on the number of tokens and on their total probability.
TEST(ChooseToken, AmongTheMostLikely) {
  std::vector<double> logits{std::log(0.1), std::log(0.5), std::log(0.2), std::log(0.2)};
  using Tokens = std::set<int64_t>;
  EXPECT_EQ(drawn(logits, {1}), (Tokens{0, 1, 2, 3}));
  EXPECT_EQ(drawn(logits, {1, 1}), Tokens{1});
  EXPECT_EQ(drawn(logits, {1, 2}), (Tokens{1, 2})) << "of equal ones the first";
  EXPECT_EQ(drawn(logits, {1, 9}), (Tokens{0, 1, 2, 3}));
  EXPECT_EQ(drawn(logits, {1, 0, 0.01}), Tokens{1}) << "one is always left";
  EXPECT_EQ(drawn(logits, {1, 0, 0.6}), (Tokens{1, 2}));
  EXPECT_EQ(drawn(logits, {1, 0, 0.85}), (Tokens{1, 2, 3}));
  EXPECT_EQ(drawn(logits, {1, 3, 0.7}), (Tokens{1, 2})) << "of the 0.9 that three have, 0.63";
  EXPECT_EQ(chooseToken(logits, {1, 2}, 0.70), 1) << "5/7 of what is left";
  EXPECT_EQ(chooseToken(logits, {1, 2}, 0.72), 2);
}

// As a fraction of the greatest probability, 0.5, after the other limits.
TEST(ChooseToken, AmongTheProbable) {
  std::vector<double> logits{std::log(0.1), std::log(0.5), std::log(0.2), std::log(0.2)};
  using Tokens = std::set<int64_t>;
  EXPECT_EQ(drawn(logits, {1, 0, 1, 0.19}), (Tokens{0, 1, 2, 3}));
  EXPECT_EQ(drawn(logits, {1, 0, 1, 0.3}), (Tokens{1, 2, 3}));
  EXPECT_EQ(drawn(logits, {1, 2, 1, 0.3}), (Tokens{1, 2}));
  EXPECT_EQ(drawn(logits, {1, 0, 1, 1}), Tokens{1});
  EXPECT_EQ(chooseToken(logits, {1, 0, 1, 0.3}, 0.55), 1) << "5/9 of what is left";
  EXPECT_EQ(chooseToken(logits, {1, 0, 1, 0.3}, 0.56), 2);
}

// Each token once, however often the text contains it; other numbers are not tokens.
TEST(ChooseToken, PenalizesRepetition) {
  std::vector<double> logits{2, -2, 3, -3};
  penalizeRepetition(logits, std::vector<int64_t>{0, 3, 0, 9, -1}, 2);
  EXPECT_THAT(logits, testing::ElementsAre(1, -2, 3, -6));
}

Program withSettings() {
  Program program;
  program.name = "p";
  program.settings = {{"optimizer.lr", "3e-4", false, allowNumbersFrom(0)},
                      {"steps", "100_000", false, allowIntegersFrom(1)},
                      {"schedule.to", "0.5", false, allowNumbersWithin(0, 1)},
                      {"schedule.decay", "linear", false, allowWords({"constant", "linear"})},
                      {"data.path", "\"a \\b.txt\"", false, allowText()},
                      {"data.batch", "8", true}};
  return program;
}

// Values use the language's syntax; an equal value of a compile-time setting is accepted.
TEST(SettingsTest, Values) {
  Settings settings(withSettings());
  EXPECT_EQ(settings.integer("steps", 0), 100000);
  EXPECT_DOUBLE_EQ(settings.number("optimizer.lr", 0), 3e-4);
  EXPECT_EQ(settings.text("data.path", ""), "a \\b.txt");
  settings.set(readPair("data.batch=8.0", "--set"));
  EXPECT_THROW(readPair("=9", "--set"), UsageError);
  settings.set(readPair("data.path=b c.txt", "--set")); // the shell removed the quotes
  EXPECT_EQ(settings.text("data.path", ""), "b c.txt");
  settings.set(readPair("schedule.decay=\"constant\"", "--set"));
  EXPECT_EQ(settings.text("schedule.decay", ""), "constant");
}

/// The printed diagnostic.
std::string complaint(const SettingText &text) {
  try {
    Settings(withSettings()).set(text);
  } catch (const SourceError &error) {
    return error.location + ": " + error.what() + error.excerpt;
  }
  return "accepted";
}

// Messages, codes and carets equal those of `titanc --set`.
TEST(SettingsTest, Mistakes) {
  auto set = [](const char *pair) { return complaint(readPair(pair, "--set")); };
  EXPECT_EQ(set("optimizer.lr=-1"), "--set optimizer.lr:1:1: `optimizer.lr` takes a number from 0 "
                                    "on, not -1 [T0503]\n-1\n^~");
  EXPECT_EQ(set("steps=2.5"),
            "--set steps:1:1: `steps` takes an integer, not 2.5 [T0502]\n2.5\n^~~");
  EXPECT_EQ(set("steps=0"),
            "--set steps:1:1: `steps` takes a number from 1 on, not 0 [T0503]\n0\n^");
  EXPECT_EQ(set("steps=9223372036854775807"),
            "--set steps:1:1: `steps` takes a number from 1 to 9007199254740992, not "
            "9223372036854775807 [T0503]\n9223372036854775807\n^~~~~~~~~~~~~~~~~~~");
  EXPECT_EQ(set("steps=20.0"),
            "--set steps:1:1: `steps` takes an integer, not 20.0 [T0502]\n20.0\n^~~~");
  EXPECT_EQ(set("schedule.to=2"), "--set schedule.to:1:1: `schedule.to` takes a number from 0 to "
                                  "1, not 2 [T0503]\n2\n^");
  EXPECT_EQ(set("optimizer.lr=nan"), "--set optimizer.lr:1:1: `optimizer.lr` takes a number, not "
                                     "nan [T0502]\nnan\n^~~");
  EXPECT_EQ(set("schedule.decay=cosin"),
            "--set schedule.decay:1:1: `schedule.decay` cannot be cosin [T0503]\ncosin\n^~~~~\n"
            "help: legal: `constant` and `linear`");
  EXPECT_EQ(set("data.path=5"),
            "--set data.path:1:1: `data.path` takes a string, not 5 [T0502]\n5\n^");
  EXPECT_EQ(set("step=2"), "--set:1:1: there is no option `step` [T0501]\nstep=2\n^~~~\n"
                           "help: the nearest option is `steps`");
  EXPECT_EQ(set("data.batch=9"),
            "--set data.batch:1:1: `data.batch` is 8, fixed when the program was compiled\n9\n^\n"
            "help: rebuild to change it: `titanc build FILE.titan --set data.batch=9`");
  EXPECT_EQ(set("schedule.to=1"), "accepted");
}

// In a file, with line and column.
TEST(SettingsTest, MistakesInFiles) {
  std::string path = testing::TempDir() + "settings.toml";
  std::ofstream(path) << "# of a run\nsteps = 20 # short\n\n[optimizer]\nlr   = -0.5  # \"wrong\"\n"
                         "[schedule]\ndecay = \"linear\"\n";
  std::vector<SettingText> texts = readConfig(path);
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(complaint(texts[0]), "accepted");
  EXPECT_EQ(complaint(texts[1]),
            path + ":5:8: `optimizer.lr` takes a number from 0 on, not -0.5 [T0503]\n"
                   "lr   = -0.5  # \"wrong\"\n       ^~~~");
  EXPECT_EQ(complaint(texts[2]), "accepted");
  texts[1].path = "optimizer.rate";
  EXPECT_EQ(complaint(texts[1]).substr(path.size()),
            ":5:1: there is no option `optimizer.rate` [T0501]\nlr   = -0.5  # \"wrong\"\n^~\n"
            "help: `optimizer { ... }` has `lr`");
}

// The written TOML is a valid input of a run.
TEST(SettingsTest, Toml) {
  // File names are absolute, so that they are valid in any working directory.
  const std::string folder = std::filesystem::current_path().string();
  EXPECT_EQ(Settings(withSettings()).toToml(),
            "data.batch = 8 # fixed when the program was compiled\ndata.path = \"" + folder +
                "/a \\\\b.txt\"\noptimizer.lr = 3e-4\nschedule.decay = \"linear\"\n"
                "schedule.to = 0.5\nsteps = 100000\n");
}

} // namespace
