// The allocations and functions that each rank has of a program with pipelines.
#include "pipeline/ProgramPipelines.h"

#include <gtest/gtest.h>

using namespace titan;
using namespace titan::rt;

namespace {

enum Value : int { First, Last, Unused, Rate, Tokens, Activation, Sum, kValues };

void doNothing(Context &) {}

/// A program of two stages, each with a parameter. If `evaluates`, the command only runs "eval".
Program makeProgram(bool evaluates) {
  Program program;
  program.mesh = {{"data", 2}, {"pp", 2}};
  program.persistent.resize(kValues);
  for (int parameter : {First, Last, Unused})
    program.tensors.push_back({Role::Parameter, "w" + std::to_string(parameter), {}, parameter});
  program.tensors.push_back({Role::Scalar, "lr", {}, Rate});
  Pipeline train{"train", 1, 2, 3, "1f1b", {}, {Activation}, {Tokens}};
  train.fragments = {
      {"begin.1", FragmentKind::Begin, 1, 0, {Sum}, {}, {Sum}},
      {"forward.0", FragmentKind::Forward, 0, 0, {First, Tokens, Activation}, {}, {Activation}},
      {"forward.1", FragmentKind::Forward, 1, 0, {Last, Activation, Sum}, {Activation, Sum}, {Sum}},
      {"backward.1", FragmentKind::Backward, 1, 0, {Last}},
      {"backward.0", FragmentKind::Backward, 0, 0, {First}},
      {"update.0", FragmentKind::Update, 0, 0, {First, Rate}},
      {"update.1", FragmentKind::Update, 1, 0, {Last, Rate, Sum}, {Sum}, {}}};
  Pipeline eval{"eval", 1, 2, 0, "1f1b", {}, {}, {}};
  eval.fragments = {{"evaluate.0", FragmentKind::Evaluate, 0, 0, {First}},
                    {"evaluate.1", FragmentKind::Evaluate, 1, 0, {Last}}};
  program.pipelines = {train, eval};
  for (const Pipeline &pipeline : program.pipelines)
    if (pipeline.program == "eval" || !evaluates)
      for (const Fragment &fragment : pipeline.fragments)
        program.functions.push_back({fragment.function, {}, 1, doNothing});
  return program;
}

Pipelines onRank(const Program &program, int64_t coordinate) {
  const std::vector<int64_t> degree = {2, 2}, coordinates = {1, coordinate};
  return Pipelines(pipelineTable(program), degree, coordinates);
}

std::vector<int64_t> getNumCopies(const Pipelines &pipelines) {
  std::vector<int64_t> copies;
  for (size_t i = 0; i < kValues; ++i)
    copies.push_back(pipelines.getNumCopies(i));
  return copies;
}

// A rank has what its fragments use, once for each microbatch that needs it at the same time.
TEST(Pipelines, Memory) {
  const Program program = makeProgram(false);
  EXPECT_EQ(getNumCopies(onRank(program, 0)), (std::vector<int64_t>{1, 0, 1, 1, 3, 2, 0}));
  EXPECT_EQ(getNumCopies(onRank(program, 1)), (std::vector<int64_t>{0, 1, 0, 1, 0, 2, 1}));
  EXPECT_TRUE(onRank(program, 0).isPacked(Tokens));
  EXPECT_FALSE(onRank(program, 0).isPacked(Activation));
}

// Of functions that the command does not run, only parameters and states have memory.
TEST(Pipelines, MemoryOfOtherCommands) {
  const Program program = makeProgram(true);
  EXPECT_EQ(getNumCopies(onRank(program, 0)), (std::vector<int64_t>{1, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(getNumCopies(onRank(program, 1)), (std::vector<int64_t>{0, 1, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(onRank(program, 0).find("train"));
  EXPECT_TRUE(onRank(program, 0).find("eval"));
}

// Every shard in files has one writer along the axis.
TEST(Pipelines, Holders) {
  const Program program = makeProgram(false);
  for (int parameter : {First, Last, Unused}) {
    const bool isLast = parameter == Last;
    EXPECT_EQ(onRank(program, 0).isHolder(static_cast<size_t>(parameter)), !isLast);
    EXPECT_EQ(onRank(program, 1).isHolder(static_cast<size_t>(parameter)), isLast);
  }
}

// Outputs are those of the rank's last fragment.
TEST(Pipelines, Functions) {
  const Program program = makeProgram(false);
  const Pipelines first = onRank(program, 0), last = onRank(program, 1);
  EXPECT_EQ(first.getOutputFunction("train"), "update.0");
  EXPECT_EQ(last.getOutputFunction("train"), "update.1");
  EXPECT_EQ(last.getOutputFunction("logits"), "logits");
  EXPECT_TRUE(first.runs("forward.0"));
  EXPECT_FALSE(first.runs("forward.1"));
  EXPECT_EQ(first.axis(), 1);
  EXPECT_EQ(first.getMessageOffsets(), std::vector<int>{1});
}

// Without pipelines, every rank has the complete program.
TEST(Pipelines, ProgramWithoutPipelines) {
  Program program = makeProgram(false);
  program.pipelines.clear();
  EXPECT_EQ(getNumCopies(onRank(program, 1)), std::vector<int64_t>(kValues, 1));
  EXPECT_TRUE(onRank(program, 1).isHolder(Last));
  EXPECT_TRUE(onRank(program, 1).runs("forward.0"));
  EXPECT_EQ(onRank(program, 1).axis(), -1);
}

} // namespace
