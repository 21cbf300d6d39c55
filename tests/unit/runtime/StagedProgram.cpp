// A pipeline in the form that the compiler emits, written by hand: two stages that predict the next
// byte, in float64. With rows of `table` (stage 0) and `weight` (stage 1), and a `gain` that both
// stages use,
//   x = gain table[token],   loss = mean over tokens of (gain sum(x weight) - label / 256)^2.
// The mesh has the axes `pp`, of STAGED_PP ranks, and `data`, which shards the batch. It covers
// what emitted pipelines need: stashes, inputs by microbatch, sums over microbatches, copies of
// parameters, levels of updates, and outputs on all ranks.
#include "titan/runtime/program.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

constexpr int64_t vocab = 256, width = 4, batch = 16, microbatches = 4, seq = 8;
const int dataAxis[] = {1};
const GroupRef replicas{dataAxis, 1};

/// Persistent allocations.
enum Value : int {
  Table,
  Weight,
  Gain,
  MTable,
  MWeight,
  MGain,
  Lr,
  Microbatch,
  Tokens,
  Labels,
  Activation,    // stash
  Error,         // stash: of the loss by the prediction
  Cotangent,     // stash: of the activation
  Number,        // stash: of the microbatch
  GainCopy,      // for stage 1
  TableGradient, // sums over microbatches
  WeightGradient,
  GainGradient,
  LastGainGradient, // of stage 1
  LossSum,
  WholeLastGainGradient, // after the microbatches
  WholeLoss,
  FirstNorm,
  LastNorm,
  EvalTokens,
  EvalLabels,
  EvalGain,
  EvalActivation,
  EvalLoss,
  kValues
};

double *at(Context &ctx, Value which) {
  return persistent<double>(ctx, which);
}
const int64_t *tokensAt(Context &ctx, Value which) {
  return persistent<int64_t>(ctx, which);
}
int64_t ownTokens(Context &ctx, int64_t rows) {
  return rows / ctx.degree[1] * seq;
}
constexpr int64_t rowsOfMicrobatch = batch / microbatches;

void embed(Context &ctx, Value tokens, Value activation, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < width; ++k)
      at(ctx, activation)[i * width + k] =
          *at(ctx, Gain) * at(ctx, Table)[tokensAt(ctx, tokens)[i] * width + k];
}

double predict(Context &ctx, Value activation, int64_t token) {
  double sum = 0;
  for (int64_t k = 0; k < width; ++k)
    sum += at(ctx, activation)[token * width + k] * at(ctx, Weight)[k];
  return sum;
}

/// The sum of the squares over this rank's tokens. `error` may be null.
double computeLoss(Context &ctx, Value activation, Value labels, double gain, int64_t count,
                   double *error) {
  double loss = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double difference =
        gain * predict(ctx, activation, i) - static_cast<double>(tokensAt(ctx, labels)[i]) / vocab;
    loss += difference * difference;
    if (error)
      error[i] = 2 * difference / (batch * seq);
  }
  return loss / (batch * seq);
}

void clear(Context &ctx, Value sum, int64_t count) {
  std::memset(at(ctx, sum), 0, static_cast<size_t>(count) * sizeof(double));
}

void begin0(Context &ctx) {
  *at(ctx, GainCopy) = *at(ctx, Gain);
  clear(ctx, TableGradient, vocab * width);
  clear(ctx, GainGradient, 1);
}

void begin1(Context &ctx) {
  clear(ctx, WeightGradient, width);
  clear(ctx, LastGainGradient, 1);
  clear(ctx, LossSum, 1);
}

void forward0(Context &ctx) {
  trace(ctx, "staged.titan:1", "embed");
  embed(ctx, Tokens, Activation, ownTokens(ctx, rowsOfMicrobatch));
  *persistent<int64_t>(ctx, Number) = *persistent<int64_t>(ctx, Microbatch);
}

void forward1(Context &ctx) {
  trace(ctx, "staged.titan:2", "loss");
  *at(ctx, LossSum) += computeLoss(ctx, Activation, Labels, *at(ctx, GainCopy),
                                   ownTokens(ctx, rowsOfMicrobatch), at(ctx, Error));
}

void backward1(Context &ctx) {
  trace(ctx, "staged.titan:2", "loss backward");
  const double gain = *at(ctx, GainCopy);
  for (int64_t i = 0; i < ownTokens(ctx, rowsOfMicrobatch); ++i) {
    const double error = at(ctx, Error)[i];
    *at(ctx, LastGainGradient) += error * predict(ctx, Activation, i);
    for (int64_t k = 0; k < width; ++k) {
      at(ctx, WeightGradient)[k] += error * gain * at(ctx, Activation)[i * width + k];
      at(ctx, Cotangent)[i * width + k] = error * gain * at(ctx, Weight)[k];
    }
  }
}

void backward0(Context &ctx) {
  trace(ctx, "staged.titan:1", "embed backward");
  if (*persistent<int64_t>(ctx, Number) != *persistent<int64_t>(ctx, Microbatch))
    std::abort();
  for (int64_t i = 0; i < ownTokens(ctx, rowsOfMicrobatch); ++i)
    for (int64_t k = 0; k < width; ++k) {
      const int64_t element = tokensAt(ctx, Tokens)[i] * width + k;
      const double cotangent = at(ctx, Cotangent)[i * width + k];
      at(ctx, TableGradient)[element] += *at(ctx, Gain) * cotangent;
      *at(ctx, GainGradient) += at(ctx, Table)[element] * cotangent;
    }
}

double sumSquares(const double *values, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += values[i] * values[i];
  return sum;
}

void reduce(Context &ctx, Value value, int64_t count) {
  allReduce(ctx, replicas, DType::F64, Reduction::Sum, at(ctx, value), count);
}

/// Level 0: the sums of stage 1 that stage 0 needs.
void update1Level0(Context &ctx) {
  reduce(ctx, WeightGradient, width);
  reduce(ctx, LossSum, 1);
  reduce(ctx, LastGainGradient, 1);
  *at(ctx, WholeLastGainGradient) = *at(ctx, LastGainGradient);
  *at(ctx, WholeLoss) = *at(ctx, LossSum);
  *at(ctx, LastNorm) = sumSquares(at(ctx, WeightGradient), width);
}

void apply(Context &ctx, Value parameter, Value moment, const double *gradient, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    at(ctx, moment)[i] = 0.9 * at(ctx, moment)[i] + gradient[i];
    at(ctx, parameter)[i] -= *at(ctx, Lr) * at(ctx, moment)[i];
  }
}

enum Transient { Loss, GradNorm, GradientA, GradientB };

void finish(Context &ctx, double firstNorm) {
  *transient<double>(ctx, Loss) = *at(ctx, WholeLoss);
  *transient<double>(ctx, GradNorm) = std::sqrt(firstNorm + *at(ctx, LastNorm));
}

/// Level 1: stage 0 has all terms of its gradients.
void update0Level1(Context &ctx) {
  reduce(ctx, TableGradient, vocab * width);
  reduce(ctx, GainGradient, 1);
  double *table = transient<double>(ctx, GradientA), *gain = transient<double>(ctx, GradientB);
  std::memcpy(table, at(ctx, TableGradient), vocab * width * sizeof(double));
  *gain = *at(ctx, GainGradient) + *at(ctx, WholeLastGainGradient);
  *at(ctx, FirstNorm) = sumSquares(table, vocab * width) + *gain * *gain;
  apply(ctx, Table, MTable, table, vocab * width);
  apply(ctx, Gain, MGain, gain, 1);
  finish(ctx, *at(ctx, FirstNorm));
}

/// Level 2.
void update1Level2(Context &ctx) {
  double *weight = transient<double>(ctx, GradientA);
  std::memcpy(weight, at(ctx, WeightGradient), width * sizeof(double));
  apply(ctx, Weight, MWeight, weight, width);
  finish(ctx, *at(ctx, FirstNorm));
}

void evaluate0Level0(Context &ctx) {
  *at(ctx, EvalGain) = *at(ctx, Gain);
  embed(ctx, EvalTokens, EvalActivation, ownTokens(ctx, batch));
}

void evaluate1Level1(Context &ctx) {
  *at(ctx, EvalLoss) = computeLoss(ctx, EvalActivation, EvalLabels, *at(ctx, EvalGain),
                                   ownTokens(ctx, batch), nullptr);
  reduce(ctx, EvalLoss, 1);
  *transient<double>(ctx, Loss) = *at(ctx, EvalLoss);
}

void evaluate0Level2(Context &ctx) {
  *transient<double>(ctx, Loss) = *at(ctx, EvalLoss);
}

Tensor tensor(Role role, const std::string &name, DType type, std::vector<Dim> dims, int allocation,
              const std::string &function = "") {
  Tensor made{role, name, {type, std::move(dims), {}, 0}, allocation, function};
  made.init = Init::Normal;
  made.scale = {0.5};
  return made;
}

void addStored(Program &p, const std::string &name, std::vector<Dim> dims, Value parameter,
               Value state) {
  p.tensors.push_back(tensor(Role::Parameter, name, DType::F64, dims, parameter));
  p.tensors.push_back(tensor(Role::State, "m." + name, DType::F64, dims, state));
}

void addTensors(Program &p) {
  const std::vector<Dim> table = {{"vocab", vocab, {}}, {"width", width, {}}},
                         weight = {{"width", width, {}}};
  addStored(p, "table", table, Table, MTable);
  addStored(p, "weight", weight, Weight, MWeight);
  addStored(p, "gain", {}, Gain, MGain);
  p.tensors.push_back(
      tensor(Role::Gradient, "table", DType::F64, table, GradientA, "train.update.0.1"));
  p.tensors.push_back(
      tensor(Role::Gradient, "gain", DType::F64, {}, GradientB, "train.update.0.1"));
  p.tensors.push_back(
      tensor(Role::Gradient, "weight", DType::F64, weight, GradientA, "train.update.1.2"));
  p.tensors.push_back(tensor(Role::Scalar, "lr", DType::F64, {}, Lr));
  p.tensors.push_back(tensor(Role::Scalar, "microbatch", DType::I64, {}, Microbatch));
  const std::vector<Dim> steps = {{"microbatches", microbatches, {}},
                                  {"batch", rowsOfMicrobatch, {1}},
                                  {"seq", seq, {}}},
                         whole = {{"batch", batch, {1}}, {"seq", seq, {}}};
  p.tensors.push_back(tensor(Role::Input, "tokens", DType::I64, steps, Tokens, "train"));
  p.tensors.push_back(tensor(Role::Input, "labels", DType::I64, steps, Labels, "train"));
  p.tensors.push_back(tensor(Role::Input, "tokens", DType::I64, whole, EvalTokens, "eval"));
  p.tensors.push_back(tensor(Role::Input, "labels", DType::I64, whole, EvalLabels, "eval"));
  for (const char *function : {"train.update.0.1", "train.update.1.2"}) {
    p.tensors.push_back(tensor(Role::Output, "loss", DType::F64, {}, Loss, function));
    p.tensors.push_back(tensor(Role::Output, "grad_norm", DType::F64, {}, GradNorm, function));
  }
  for (const char *function : {"eval.evaluate.1.1", "eval.evaluate.0.2"})
    p.tensors.push_back(tensor(Role::Output, "loss", DType::F64, {}, Loss, function));
}

/// The allocations of the values, indexed by `Value`.
std::vector<Allocation> makeAllocations(int64_t ranks) {
  const int64_t tokens = rowsOfMicrobatch / ranks * seq, whole = batch / ranks * seq;
  std::vector<int64_t> elements(kValues, 1);
  for (Value table : {Table, MTable, TableGradient})
    elements[table] = vocab * width;
  for (Value weight : {Weight, MWeight, WeightGradient})
    elements[weight] = width;
  for (Value input : {Tokens, Labels, Error})
    elements[input] = tokens;
  for (Value activation : {Activation, Cotangent})
    elements[activation] = tokens * width;
  elements[EvalTokens] = elements[EvalLabels] = whole;
  elements[EvalActivation] = whole * width;
  std::vector<Allocation> allocations;
  for (size_t i = 0; i < elements.size(); ++i)
    allocations.push_back({"value " + std::to_string(i), elements[i] * 8});
  return allocations;
}

using Values = std::vector<int>;

template <void (*code)(Context &)> Values used; ///< by a fragment, in the order of its numbers

/// Runs a fragment with offsets by `Value` instead of its own numbers.
template <void (*code)(Context &)> void byValue(Context &ctx) {
  int64_t offsets[kValues] = {};
  for (size_t i = 0; i < used<code>.size(); ++i)
    offsets[used<code>[i]] = ctx.persistent[i];
  const int64_t *own = std::exchange(ctx.persistent, offsets);
  code(ctx);
  ctx.persistent = own;
}

/// `own`: what the fragment uses besides the values that it reads and writes.
template <void (*code)(Context &)>
void add(Pipeline &pipeline, FragmentKind kind, int stage, int level, const std::string &function,
         const Values &own, const Values &reads, const Values &writes) {
  std::set<int> uses(own.begin(), own.end());
  uses.insert(reads.begin(), reads.end());
  uses.insert(writes.begin(), writes.end());
  used<code> = {uses.begin(), uses.end()};
  pipeline.fragments.push_back({function, kind, stage, level, used<code>, reads, writes});
}

Pipeline trainOn(const std::string &schedule) {
  using enum FragmentKind;
  Pipeline train{"train", 0, 2, microbatches, schedule, {}, {}, {Tokens, Labels}};
  train.stashes = {Activation, Error, Cotangent, Number};
  add<begin0>(train, Begin, 0, 0, "train.begin.0", {Gain}, {},
              {GainCopy, TableGradient, GainGradient});
  add<begin1>(train, Begin, 1, 0, "train.begin.1", {}, {},
              {WeightGradient, LastGainGradient, LossSum});
  add<forward0>(train, Forward, 0, 0, "train.forward.0", {Table, Gain, Tokens, Microbatch}, {},
                {Activation, Number});
  add<forward1>(train, Forward, 1, 0, "train.forward.1", {Weight, Labels},
                {GainCopy, Activation, LossSum}, {LossSum, Error});
  add<backward1>(train, Backward, 1, 0, "train.backward.1", {Weight},
                 {GainCopy, Activation, Error, WeightGradient, LastGainGradient},
                 {WeightGradient, LastGainGradient, Cotangent});
  add<backward0>(train, Backward, 0, 0, "train.backward.0", {Table, Gain, Tokens, Microbatch},
                 {Cotangent, Number, TableGradient, GainGradient}, {TableGradient, GainGradient});
  add<update1Level0>(train, Update, 1, 0, "train.update.1.0", {},
                     {WeightGradient, LossSum, LastGainGradient},
                     {WholeLastGainGradient, WholeLoss, LastNorm});
  add<update0Level1>(train, Update, 0, 1, "train.update.0.1", {Table, MTable, Gain, MGain, Lr},
                     {TableGradient, GainGradient, WholeLastGainGradient, WholeLoss, LastNorm},
                     {FirstNorm});
  add<update1Level2>(train, Update, 1, 2, "train.update.1.2", {Weight, MWeight, Lr},
                     {WeightGradient, WholeLoss, LastNorm, FirstNorm}, {});
  return train;
}

Pipeline evalOn(const std::string &schedule) {
  using enum FragmentKind;
  Pipeline eval{"eval", 0, 2, 0, schedule, {}, {}, {}};
  add<evaluate0Level0>(eval, Evaluate, 0, 0, "eval.evaluate.0.0", {Table, Gain, EvalTokens}, {},
                       {EvalGain, EvalActivation});
  add<evaluate1Level1>(eval, Evaluate, 1, 1, "eval.evaluate.1.1", {Weight, EvalLabels},
                       {EvalGain, EvalActivation}, {EvalLoss});
  add<evaluate0Level2>(eval, Evaluate, 0, 2, "eval.evaluate.0.2", {}, {EvalLoss}, {});
  return eval;
}

} // namespace

namespace titan::rt {

std::vector<Axis> programMesh() {
  const char *stages = std::getenv("STAGED_PP");
  return {{"pp", stages ? std::atoi(stages) : 2}, {"data", 0}};
}

Program program(const int64_t *degree) {
  Program p;
  p.name = "staged";
  p.model = "57a6ed0057a6ed00";
  p.source = "# by hand\n";
  p.mesh = programMesh();
  p.persistent = makeAllocations(degree[1]);
  addTensors(p);
  const std::vector<Allocation> loss = {{"loss", 8, 0, 1}};
  std::vector<Allocation> last0 = {{"loss", 8, 0, 1},
                                   {"grad_norm", 8, 0, 1},
                                   {"g.table", vocab * width * 8, 0, 1},
                                   {"g.gain", 8, 0, 1}},
                          last1 = {{"loss", 8, 0, 1},
                                   {"grad_norm", 8, 0, 1},
                                   {"g.weight", width * 8, 0, 1}};
  p.functions = {{"train.begin.0", {}, 1, byValue<begin0>},
                 {"train.begin.1", {}, 1, byValue<begin1>},
                 {"train.forward.0", {}, 1, byValue<forward0>},
                 {"train.forward.1", {}, 1, byValue<forward1>},
                 {"train.backward.1", {}, 1, byValue<backward1>},
                 {"train.backward.0", {}, 1, byValue<backward0>},
                 {"train.update.1.0", {}, 1, byValue<update1Level0>},
                 {"train.update.0.1", last0, 2, byValue<update0Level1>},
                 {"train.update.1.2", last1, 2, byValue<update1Level2>},
                 {"eval.evaluate.0.0", {}, 1, byValue<evaluate0Level0>},
                 {"eval.evaluate.1.1", loss, 2, byValue<evaluate1Level1>},
                 {"eval.evaluate.0.2", loss, 2, byValue<evaluate0Level2>}};
  const std::string schedule = degree[0] == 1 ? "interleaved_1f1b" : "1f1b";
  p.pipelines = {trainOn(schedule), evalOn(schedule)};
  p.settings = {
      {"steps", "8", false, allowIntegersFrom(1)},
      {"seed", "3", false, allowIntegersFrom(0)},
      {"optimizer.lr", "0.3", false, allowNumbersFrom(0)},
      {"data.format", "text", false, allowWords({"text", "indexed"})},
      {"data.path", "", false, allowText()},
      {"eval.data.path", "", false, allowText()},
      {"eval.data.format", "text", false, allowWords({"text", "indexed"})},
      {"eval.every", "0", false, idle("eval.data.path", "", allowIntegersFrom(0))},
      {"eval.batches", "0", false, idle("eval.data.path", "", allowIntegersFrom(0))},
      {"checkpoint.every", "0", false, allowIntegersFrom(0)},
      {"checkpoint.keep", "0", false, allowIntegersFrom(0)},
      {"checkpoint.keep_every", "0", false, idle("checkpoint.keep", "0", allowIntegersFrom(0))},
      {"checkpoint.mode", "sync", false,
       idle("checkpoint.every", "0", allowWords({"sync", "async"}))}};
  p.dtype = DType::F64;
  p.samples = batch;
  p.positions = seq;
  p.vocab = vocab;
  p.dims = {"batch", "seq"};
  p.parameters = vocab * width + width + 1;
  p.flopsPerToken = p.modelFlopsPerToken = 100;
  return p;
}

} // namespace titan::rt
