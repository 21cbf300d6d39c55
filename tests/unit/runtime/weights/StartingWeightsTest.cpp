// The stored tensor that each parameter starts from, for one or several sources.
#include "weights/StartingWeights.h"

#include "base/Error.h"

#include <filesystem>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace titan;
using namespace titan::rt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class StartingWeightsTest : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::path(testing::TempDir()) /
             testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// Writes a file of tensors with the elements begin, begin + 1, ... and returns its path.
  std::string file(const std::string &name, const std::vector<std::string> &tensors,
                   double begin = 0, std::vector<int64_t> shape = {2, 3}) {
    std::vector<TensorSpec> specs;
    for (const std::string &tensor : tensors)
      specs.push_back({tensor, DType::F64, shape});
    const std::string path = folder / name;
    SafetensorsWriter writer(path, specs);
    std::vector<double> values(6);
    for (size_t i = 0; i < tensors.size(); ++i, begin += 6) {
      std::iota(values.begin(), values.end(), begin);
      writer.write(i, 0, std::as_bytes(std::span(values)));
    }
    writer.finish();
    return path;
  }

  /// Matches the `needed` parameters with sources; `texts` are those after --init-from.
  void match(const std::vector<std::string> &texts) {
    sources.clear();
    stores.clear();
    for (const std::string &text : texts) {
      sources.push_back(parseWeightSource(text));
      stores.emplace_back(sources.back().path);
    }
    weights.emplace(map, sources, stores);
    weights->match(needed);
  }

  /// The error of match().
  std::string complaint(const std::vector<std::string> &texts) {
    try {
      match(texts);
    } catch (const UserError &error) {
      return error.what();
    }
    return "accepted";
  }

  void readRow(size_t index, int64_t first, int64_t count, double *out) {
    const ElementRows row{first, count};
    weights->read(index, std::span(&row, 1), reinterpret_cast<std::byte *>(out));
  }

  std::vector<double> read(size_t index) {
    std::vector<double> values(6);
    readRow(index, 0, 6, values.data());
    return values;
  }

  /// A line `outcome parameter tensor` for each row.
  std::string rows() {
    std::string all;
    for (const WeightRow &row : weights->rows())
      all += std::to_string(static_cast<int>(row.outcome)) + " " + row.parameter + " " +
             row.tensor + "\n";
    return all;
  }

  std::filesystem::path folder;
  WeightMap map;
  std::vector<NeededWeights> needed = {{"teacher.w", "teacher.w", {}, {2, 3}, DType::F64},
                                       {"w", "w", {}, {2, 3}, DType::F64}};
  std::vector<WeightSource> sources;
  std::vector<WeightStore> stores;
  std::optional<StartingWeights> weights;
};

TEST_F(StartingWeightsTest, ReadsAPrefixOnlyBeforeAnEqualsSign) {
  EXPECT_EQ(parseWeightSource("a/b").prefix, "");
  EXPECT_EQ(parseWeightSource("a.b=c=d").prefix, "a.b.");
  EXPECT_EQ(parseWeightSource("a.b=c=d").path, "c=d");
  EXPECT_EQ(parseWeightSource("./lr=1").path, "./lr=1");
  EXPECT_EQ(parseWeightSource("runs/lr=1").path, "runs/lr=1");
  EXPECT_EQ(parseWeightSource("teacher=x").text(), "teacher=x");
}

// A source with a prefix has the parameters whose names begin with it, and a second source has the
// rest.
TEST_F(StartingWeightsTest, ReadsSourcesWithPrefixes) {
  match({"teacher=" + file("a", {"w"}, 10), file("b", {"w"}, 20)});
  EXPECT_THAT(read(0), ElementsAre(10, 11, 12, 13, 14, 15));
  EXPECT_THAT(read(1), ElementsAre(20, 21, 22, 23, 24, 25));
  EXPECT_EQ(rows(), "0 teacher.w w\n0 w w\n");
}

// One source has names of the program, another one names of the map.
TEST_F(StartingWeightsTest, ReadsOwnNamesBesideThoseOfTheMap) {
  map = {"hf", {{"teacher.w", "teacher.w.weight", {3, 2}, 0, {2, 3}, {1, 2}}}, {}, {}};
  match({"teacher=" + file("a", {"w.weight"}, 0, {3, 2}), file("b", {"w"}, 20)});
  EXPECT_THAT(read(0), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(read(1), ElementsAre(20, 21, 22, 23, 24, 25));
}

// GPT-2 of the hub was saved without its head, so its names lack `transformer.`.
TEST_F(StartingWeightsTest, ReadsNamesThatLackTheirFirstWord) {
  map = {"hf",
         {{"teacher.w", "body.w.weight", {2, 3}, 0, {2, 3}, {3, 1}},
          {"w", "body.h.weight", {2, 3}, 0, {2, 3}, {3, 1}}},
         {},
         {"body.*.mask"}};
  match({file("a", {"w.weight", "h.weight", "h.mask"}, 10)});
  EXPECT_THAT(read(0), ElementsAre(10, 11, 12, 13, 14, 15));
  EXPECT_THAT(read(1), ElementsAre(16, 17, 18, 19, 20, 21));
  EXPECT_EQ(weights->storedTypes().count("body.h.weight"), 1U);
  EXPECT_THAT(complaint({file("b", {"w.weight", "body.h.weight"})}),
              HasSubstr("there is no tensor 'body.w.weight'"));
}

// BERT of the hub was converted from TensorFlow.
TEST_F(StartingWeightsTest, ReadsOlderNamesOfNorms) {
  map = {"hf",
         {{"teacher.w", "body.norm.weight", {2, 3}, 0, {2, 3}, {3, 1}},
          {"w", "body.norm.bias", {2, 3}, 0, {2, 3}, {3, 1}}},
         {},
         {}};
  for (const std::string prefix : {"body.", ""}) {
    match({file("a", {prefix + "norm.gamma", prefix + "norm.beta"}, 10)});
    EXPECT_THAT(read(0), ElementsAre(10, 11, 12, 13, 14, 15));
    EXPECT_THAT(read(1), ElementsAre(16, 17, 18, 19, 20, 21));
  }
  EXPECT_THAT(complaint({file("b", {"body.norm.gamma", "body.norm.weight"})}),
              HasSubstr("two sources have the tensor 'body.norm.weight'"));
  // A map may have these names itself.
  map.parameters[0].tensor = "body.norm.gamma";
  match({file("c", {"body.norm.gamma", "body.norm.beta"}, 10)});
  EXPECT_THAT(read(0), ElementsAre(10, 11, 12, 13, 14, 15));
}

// The names of a source that the map has are not those of a component without its prefix.
TEST_F(StartingWeightsTest, DoesNotTakeOneModelForAnother) {
  map = {"hf",
         {{"teacher.w", "teacher.body.w.weight", {2, 3}, 0, {2, 3}, {3, 1}},
          {"w", "body.w.weight", {2, 3}, 0, {2, 3}, {3, 1}}},
         {},
         {}};
  match({"teacher=" + file("a", {"body.w.weight"}, 10), file("b", {"body.w.weight"}, 20)});
  EXPECT_THAT(read(0), ElementsAre(10, 11, 12, 13, 14, 15));
  EXPECT_THAT(read(1), ElementsAre(20, 21, 22, 23, 24, 25));
  EXPECT_THAT(complaint({file("b", {"body.w.weight"}, 20)}),
              HasSubstr("there is no tensor 'teacher.body.w.weight'"));
}

// The text model beside a vision tower, as transformers 4 and 5 name it.
TEST_F(StartingWeightsTest, ReadsNamesWithMoreFirstWords) {
  map = {"hf",
         {{"teacher.w", "model.w.weight", {2, 3}, 0, {2, 3}, {3, 1}},
          {"w", "head.weight", {2, 3}, 0, {2, 3}, {3, 1}}},
         {},
         {"*tower.*"}};
  match({file("a", {"model.text.w.weight", "head.weight", "model.tower.v.weight"}, 10)});
  EXPECT_THAT(read(0), ElementsAre(10, 11, 12, 13, 14, 15));
  match({file("b", {"text.model.w.weight", "text.head.weight", "tower.v.weight"}, 20)});
  EXPECT_THAT(read(0), ElementsAre(20, 21, 22, 23, 24, 25));
  EXPECT_THAT(read(1), ElementsAre(26, 27, 28, 29, 30, 31));
}

// The head of a language model is not that of a classifier, although both end in `weight`.
TEST_F(StartingWeightsTest, DoesNotRenameNeedlessTensors) {
  map = {"hf",
         {{"teacher.w", "model.w.weight", {2, 3}, 0, {2, 3}, {3, 1}},
          {"w", "score.weight", {2, 3}, 0, {2, 3}, {3, 1}}},
         {},
         {"lm_head.*"}};
  const std::string path = file("a", {"model.w.weight", "lm_head.weight"});
  EXPECT_THAT(complaint({path}), HasSubstr("there is no tensor 'score.weight'"));
  map.unused.clear();
  map.copies = {{"lm_head.weight", "model.w.weight"}};
  EXPECT_THAT(complaint({path}), HasSubstr("there is no tensor 'score.weight'"));
}

TEST_F(StartingWeightsTest, RefusesTensorsOfTwoSources) {
  const std::string both = file("a", {"teacher.w", "w"}), one = file("b", {"w"});
  EXPECT_EQ(complaint({both, one}),
            "two sources have the tensor 'w': 'w' of '" + both + "' and 'w' of '" + one + "'");
  EXPECT_EQ(complaint({both, "teacher=" + one}),
            "two sources have the tensor 'teacher.w': 'teacher.w' of '" + both +
                "' and 'w' of 'teacher=" + one + "'");
  map = {"hf", {{"w", "w.weight", {2, 3}, 0, {2, 3}, {3, 1}}}, {}, {}};
  const std::string mapped = file("c", {"w.weight"});
  EXPECT_EQ(complaint({both, mapped}),
            "two sources have w: 'w' of '" + both + "' and 'w.weight' of '" + mapped + "'");
}

TEST_F(StartingWeightsTest, RefusesUnknownPrefixes) {
  const std::string path = file("a", {"w"});
  EXPECT_THAT(complaint({"teachr=" + path}),
              HasSubstr("no parameter's name begins with 'teachr.'; names begin with 'teacher'; a "
                        "path with `=` is written ./teachr="));
}

TEST_F(StartingWeightsTest, RefusesMissingAndUnknownTensors) {
  EXPECT_THAT(complaint({file("a", {"teacher.w"})}),
              HasSubstr("there is no tensor 'w', which the program needs; to keep initial values, "
                        "write in the run of the .titan file: parameters \"w\" { init_from = "
                        "optional }"));
  EXPECT_THAT(complaint({file("b", {"teacher.w", "w", "v"})}),
              HasSubstr("b: the program has no parameter for 'v'"));
  EXPECT_THAT(complaint({file("c", {"teacher.w", "w"}, 0, {3, 2})}),
              HasSubstr("has shape [3, 2], the program needs [2, 3] for teacher.w"));
  map = {"hf", {{"w", "w.weight", {2, 3}, 0, {2, 3}, {3, 1}}}, {}, {}};
  EXPECT_THAT(complaint({file("d", {"w.weight"})}), HasSubstr("have no entry for 'teacher.w'"));
}

// Each parameter and each tensor has a row.
TEST_F(StartingWeightsTest, AccountsForAll) {
  map = {"hf",
         {{"w", "w.weight", {2, 3}, 0, {2, 3}, {3, 1}}},
         {{"tied.weight", "w.weight"}},
         {"*.inv_freq"}};
  needed[0].isOptional = true;
  const std::string path = file("a", {"w.weight", "x.inv_freq"});
  match({path});
  EXPECT_FALSE(weights->has(0));
  EXPECT_TRUE(weights->has(1));
  EXPECT_EQ(toText(weights->rows()), "outcome\tparameter\ttensor\tsource\treason\n"
                                     "fresh\tteacher.w\t\t\toptional, and in no source\n"
                                     "loaded\tw\tw.weight\t" +
                                         path +
                                         "\t\n"
                                         "ignored\t\tx.inv_freq\t" +
                                         path + "\tunused \"*.inv_freq\"\n");
  EXPECT_THAT(
      summarise(weights->rows(), sources),
      ElementsAre("read 1 tensor from '" + path + "'",
                  "note: tensors of '" + path + "' that the program does not need: 'x.inv_freq'",
                  "note: 1 parameter with initial values, because no source has them: "
                  "'teacher.w'"));
}

// Integers may be quantized weights, which need scales.
TEST_F(StartingWeightsTest, RefusesIntegers) {
  const std::string path = folder / "a";
  {
    SafetensorsWriter writer(path, {{"teacher.w", DType::I64, {2, 3}}, {"w", DType::F64, {2, 3}}});
    const std::vector<int64_t> values(6);
    writer.write(0, 0, std::as_bytes(std::span(values)));
    writer.finish();
  }
  EXPECT_THAT(complaint({path}), HasSubstr("the tensor 'teacher.w' is I64, the program needs F64, "
                                           "F32, F16 or BF16; quantized weights must be"));
}

// Exports of tensors with the names of the map keep their types.
TEST_F(StartingWeightsTest, KnowsStoredTypes) {
  map = {"hf", {{"w", "w.weight", {2, 3}, 0, {2, 3}, {3, 1}}}, {}, {}};
  const std::string own = file("a", {"teacher.w"}), mapped = file("b", {"w.weight"});
  match({own, mapped});
  EXPECT_THAT(weights->storedTypes(), ElementsAre(std::pair("w.weight", "F64")));
}

// A stored copy of another tensor that differs from it is refused.
TEST_F(StartingWeightsTest, ComparesCopies) {
  map = {"hf", {{"w", "w.weight", {2, 3}, 0, {2, 3}, {3, 1}}}, {{"tied.weight", "w.weight"}}, {}};
  needed.erase(needed.begin());
  EXPECT_THAT(complaint({file("a", {"tied.weight", "w.weight"})}),
              testing::AllOf(HasSubstr("'tied.weight' differs from 'w.weight'"),
                             HasSubstr("or leave the copy out of the file")));
}

// An optional parameter that consists of several tensors needs all of them if a source has one.
TEST_F(StartingWeightsTest, RefusesIncompleteParameters) {
  map = {"hf", {{"w", "w.{0}", {3}, 0, {2, 3}, {0, 1}}}, {}, {}};
  needed = {{"w", "w", {}, {2, 3}, DType::F64, /*isOptional=*/true}};
  const std::string path = folder / "a";
  SafetensorsWriter writer(path, {{"w.0", DType::F64, {3}}});
  const std::vector<double> values(3);
  writer.write(0, 0, std::as_bytes(std::span(values)));
  writer.finish();
  EXPECT_THAT(complaint({path}),
              testing::EndsWith("there is no tensor 'w.1', which the program needs"));
}

// Elements beyond the stored ones keep their values.
TEST_F(StartingWeightsTest, ReadsShorterTensors) {
  map = {"hf", {{"w", "w.weight", {4, 2}, 0, {2, 4}, {1, 2}}}, {}, {}};
  needed = {{"w", "w", {}, {2, 4}, DType::F64, false, /*isPartial=*/true}};
  const std::string path = file("a", {"w.weight"}, 0, {3, 2});
  match({path});
  std::vector<double> values(8, -1);
  readRow(0, 0, 8, values.data());
  EXPECT_THAT(values, ElementsAre(0, 2, 4, -1, 1, 3, 5, -1));
  std::vector<double> some(4, -1);
  readRow(0, 2, 4, some.data());
  EXPECT_THAT(some, ElementsAre(4, -1, 1, 3));
  EXPECT_THAT(summarise(weights->rows(), sources),
              ElementsAre("read 1 tensor from '" + path + "'",
                          "note: 1 parameter longer than stored, with initial values at the end: "
                          "'w'"));
}

TEST_F(StartingWeightsTest, RefusesShorterTensorsElsewhere) {
  needed = {{"w", "w", {}, {4, 3}}};
  EXPECT_THAT(
      complaint({file("a", {"w"})}),
      HasSubstr("has shape [2, 3], the program needs [4, 3] for w; to keep the initial values of "
                "the rest, write in the .titan file: parameters \"w\" { init_from = partial "
                "}"));
  needed = {{"w", "w", {}, {1, 3}, DType::F64, false, /*isPartial=*/true}};
  EXPECT_THAT(complaint({file("b", {"w"})}),
              HasSubstr("b: the tensor 'w' has shape [2, 3], the program needs [1, 3] for w"));
}

// A copy has a second entry, that of its original, which applies where no source has the copy: by
// the names of the map, and by those of the program.
TEST_F(StartingWeightsTest, CopiesStartAsTheirOriginals) {
  needed = {{"w", "w", {}, {2, 3}, DType::F64}, {"twin.w", "twin.w", {}, {2, 3}, DType::F64}};
  map = {"hf",
         {{"w", "w.weight", {2, 3}, 0, {2, 3}, {3, 1}},
          {"twin.w", "twin.w.weight", {2, 3}, 0, {2, 3}, {3, 1}},
          {"twin.w", "w.weight", {2, 3}, 0, {2, 3}, {3, 1}}},
         {},
         {}};
  match({file("a", {"w"}, 1)});
  EXPECT_EQ(read(0), read(1));
  EXPECT_EQ(read(1), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  match({file("b", {"w", "twin.w"})});
  EXPECT_EQ(read(1), (std::vector<double>{6, 7, 8, 9, 10, 11}));
  match({file("c", {"w.weight"}, 30)});
  EXPECT_EQ(read(0), read(1));
  match({file("d", {"w.weight"}), "twin=" + file("e", {"w.weight"}, 20)});
  EXPECT_EQ(read(1)[0], 20);
  EXPECT_THAT(complaint({file("f", {"twin.w.weight"})}),
              HasSubstr("there is no tensor 'w.weight'"));
}

// A rule that keeps initial values would not help.
TEST_F(StartingWeightsTest, RecognisesWeightsOfAnotherModel) {
  needed.clear();
  for (const char *name : {"a", "b", "c", "d", "e"})
    needed.push_back({name, name, {}, {4, 3}});
  EXPECT_THAT(complaint({file("1", {"a", "b", "c", "d", "e"})}),
              testing::EndsWith("has shape [2, 3], the program needs [4, 3] for a; most tensors "
                                "have other shapes: these are weights of another model"));
  for (NeededWeights &each : needed)
    each.shape = {2, 3};
  EXPECT_THAT(complaint({file("2", {"a", "b", "x", "y", "z"})}),
              testing::EndsWith("which the program needs; these are weights of another model, with "
                                "the tensors 'x', 'y', 'z'"));
  EXPECT_THAT(complaint({file("3", {"a", "b"})}), HasSubstr("init_from = optional"));
}

} // namespace
