#include "TrainStep.h"

#include "state/FindNonFinite.h"

#include <algorithm>
#include <cmath>

namespace titan::rt {

namespace {

constexpr std::string_view turnPrefix = "train."; // of the function of a turn

/// The inputs of all functions, each once. Functions of one program agree on the shape of an input.
std::vector<InputSpec> getInputSpecs(const Program &program,
                                     const std::vector<std::string> &functions) {
  std::vector<InputSpec> all;
  for (const std::string &function : functions)
    for (InputSpec &input : getInputSpecs(program, function))
      if (std::none_of(all.begin(), all.end(),
                       [&](const InputSpec &other) { return other.name == input.name; }))
        all.push_back(std::move(input));
  return all;
}

} // namespace

std::vector<std::string> trainFunctions(const Program &program) {
  std::vector<std::string> functions;
  for (const ProgramTurn &turn : program.turns)
    functions.push_back(turn.function);
  return functions.empty() ? std::vector<std::string>{"train"} : functions;
}

TrainStep::TrainStep(Executor &executor)
    : executor(executor),
      specs(getInputSpecs(executor.program(), trainFunctions(executor.program()))) {
  const std::vector<ProgramTurn> &program = executor.program().turns;
  size_t firstInput = 0;
  for (const std::string &function : trainFunctions(executor.program())) {
    turns.push_back({function, program.empty() ? Turn() : program[turns.size()].when,
                     BatchReader(executor, function, specs), firstInput,
                     findOutput("loss", function), findOutput("grad_norm", function)});
    firstInput += turns.back().reader.countInputs();
  }
}

void TrainStep::prepare() {
  for (const TurnState &turn : turns)
    executor.prepare(turn.function);
}

TrainStep::Scalar TrainStep::findOutput(const char *name, const std::string &function) const {
  const Tensor *tensor = executor.find(Role::Output, name, function);
  return {tensor, tensor ? executor.getData(*tensor) : nullptr};
}

void TrainStep::moveTo(size_t index) {
  next = index;
  while (isLeft() && !turns[next].when.runsIn(step))
    ++next;
}

void TrainStep::begin(int64_t newStep) {
  step = newStep;
  latest = none;
  for (TurnState &turn : turns)
    turn.result.reset();
  moveTo(0);
}

Batch TrainStep::makeBatch() const {
  Batch all;
  for (const TurnState &turn : turns)
    for (std::vector<std::byte> &input : turn.reader.makeBatch())
      all.push_back(std::move(input));
  return all;
}

void TrainStep::read(const DataSource &data, int64_t firstSample, Batch &batch) const {
  for (const TurnState &turn : turns)
    turn.reader.read(data, firstSample,
                     std::span(batch).subspan(turn.firstInput, turn.reader.countInputs()));
}

size_t TrainStep::findNonFiniteInput(const Batch &batch) const {
  size_t first = specs.size();
  for (const TurnState &turn : turns)
    for (size_t i = 0; i < turn.reader.countInputs(); ++i)
      if (const size_t input = turn.reader.getInput(i);
          input < first && hasNonFinite(batch[turn.firstInput + i], specs[input].type))
        first = input;
  return first;
}

void TrainStep::load(const Batch &batch) {
  if (latest != none) {
    TurnState &turn = turns[latest];
    turn.result = {readScalar(turn.loss, turn.function), readScalar(turn.norm, turn.function),
                   executor.readOutputs("loss.", turn.function)};
    latest = none;
  }
  TurnState &turn = turns[next];
  turn.reader.load(std::span(batch).subspan(turn.firstInput, turn.reader.countInputs()));
}

void TrainStep::run() {
  TurnState &turn = turns[next];
  executor.run(turn.function);
  turn.hasRun = true;
  latest = next;
  moveTo(next + 1);
}

bool TrainStep::hasRunAll() const {
  return std::all_of(turns.begin(), turns.end(), [](const TurnState &turn) { return turn.hasRun; });
}

double TrainStep::readScalar(const Scalar &scalar, const std::string &function) const {
  if (!scalar.tensor)
    return 0;
  if (!executor.device().isHost())
    return executor.readScalar(scalar.tensor->name, function);
  return scalar.tensor->info.dtype == DType::F64 ? *reinterpret_cast<const double *>(scalar.data)
                                                 : *reinterpret_cast<const float *>(scalar.data);
}

template <typename Visit> void TrainStep::forEachTurnOfStep(Visit visit) const {
  for (size_t i = 0; i < turns.size(); ++i)
    if (i == latest || turns[i].result)
      visit(turns[i]);
}

double TrainStep::loss() const {
  double sum = 0;
  forEachTurnOfStep([&](const TurnState &turn) {
    sum += turn.result ? turn.result->loss : readScalar(turn.loss, turn.function);
  });
  return sum;
}

double TrainStep::norm() const {
  if (turns.size() == 1 && latest == 0)
    return readScalar(turns[0].norm, turns[0].function);
  double square = 0;
  forEachTurnOfStep([&](const TurnState &turn) {
    const double norm = turn.result ? turn.result->norm : readScalar(turn.norm, turn.function);
    square += norm * norm;
  });
  return std::sqrt(square);
}

NamedNumbers TrainStep::losses() const {
  NamedNumbers all;
  forEachTurnOfStep([&](const TurnState &turn) {
    for (auto &loss :
         turn.result ? turn.result->losses : executor.readOutputs("loss.", turn.function))
      all.push_back(loss);
  });
  return all;
}

NamedNumbers TrainStep::metrics() const {
  return latest == none ? NamedNumbers() : executor.readOutputs("metric.", turns[latest].function);
}

NamedNumbers TrainStep::norms() const {
  NamedNumbers all;
  if (!executor.program().turns.empty())
    forEachTurnOfStep([&](const TurnState &turn) {
      all.push_back({turn.function.substr(turnPrefix.size()),
                     turn.result ? turn.result->norm : readScalar(turn.norm, turn.function)});
    });
  return all;
}

std::optional<double> TrainStep::maxLoss() {
  if (!executor.program().turns.empty())
    return std::nullopt;
  return executor.readMaxUnreduced("local_loss", turns[0].function);
}

} // namespace titan::rt
