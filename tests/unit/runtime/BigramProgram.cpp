// A program in the form that the compiler emits, written by hand. It predicts the next byte: logits
// = table[token] + sum over layers of bias, in float64. The mesh has one `auto` axis, `data`, that
// shards the batch and stores every parameter flat. So a step gathers parameters, and reduces and
// scatters gradients. It covers the runtime features that emitted programs need: arenas, stacked
// tensors, collectives, settings, entry points.
#include "titan/runtime/program.h"

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>
#include <vector>

using namespace titan;
using namespace titan::rt;

namespace {

constexpr int64_t vocab = 256, layers = 2, batch = 4, seq = 32;
const int dataAxis[] = {0};
const GroupRef everyone{dataAxis, 1};

enum Persistent { Table, Bias, MTable, MBias, MCount, Lr, Step };
/// For training. Evaluation has the same up to Loss; prediction has a row of tokens and its logits.
enum Transient {
  FullTable,
  FullBias,
  Tokens,
  Labels,
  Loss,
  FullGTable,
  FullGBias,
  GTable,
  GBias,
  GradNorm,
  OneRow = Tokens,
  Logits = Labels
};

int64_t getChunkSize(int64_t elements, int64_t ranks) {
  return (elements + ranks - 1) / ranks;
}

template <typename T> T *persistent(Context &ctx, Persistent which) {
  return reinterpret_cast<T *>(ctx.arena + ctx.persistent[which]);
}
template <typename T = double> T *transient(Context &ctx, Transient which) {
  return reinterpret_cast<T *>(ctx.arena + ctx.transient[which]);
}

void gatherParameters(Context &ctx) {
  int64_t ranks = ctx.degree[0];
  trace(ctx, "bigram.titan:3", "all_gather");
  allGather(ctx, everyone, DType::F64, persistent<double>(ctx, Table), transient(ctx, FullTable), 1,
            getChunkSize(vocab * vocab, ranks), 1);
  trace(ctx, "bigram.titan:4", "all_gather");
  allGather(ctx, everyone, DType::F64, persistent<double>(ctx, Bias), transient(ctx, FullBias),
            layers, getChunkSize(vocab, ranks), 1);
}

double logit(Context &ctx, int64_t token, int64_t next) {
  int64_t row = getChunkSize(vocab, ctx.degree[0]) * ctx.degree[0]; // a layer's bias, padded
  double value = transient(ctx, FullTable)[token * vocab + next];
  for (int64_t l = 0; l < layers; ++l)
    value += transient(ctx, FullBias)[l * row + next];
  return value;
}

/// Mean loss over this rank's tokens of the batch, and the full gradients.
double forwardBackward(Context &ctx) {
  int64_t ranks = ctx.degree[0], rows = batch / ranks;
  int64_t biasRow = getChunkSize(vocab, ranks) * ranks;
  double *gTable = transient(ctx, FullGTable), *gBias = transient(ctx, FullGBias);
  std::memset(gTable, 0, getChunkSize(vocab * vocab, ranks) * ranks * sizeof(double));
  std::memset(gBias, 0, layers * biasRow * sizeof(double));
  const int64_t *tokens = transient<int64_t>(ctx, Tokens);
  const int64_t *labels = transient<int64_t>(ctx, Labels);
  double loss = 0;
  for (int64_t i = 0; i < rows * seq; ++i) {
    double p[vocab], total = 0;
    for (int64_t v = 0; v < vocab; ++v)
      total += p[v] = std::exp(logit(ctx, tokens[i], v));
    loss -= std::log(p[labels[i]] / total);
    for (int64_t v = 0; v < vocab; ++v) {
      double g = (p[v] / total - (v == labels[i])) / (batch * seq);
      gTable[tokens[i] * vocab + v] += g;
      for (int64_t l = 0; l < layers; ++l)
        gBias[l * biasRow + v] += g;
    }
  }
  return loss / (batch * seq);
}

double update(Context &ctx, Persistent parameter, Persistent moment, Transient gradient,
              int64_t count) {
  double *p = persistent<double>(ctx, parameter), *m = persistent<double>(ctx, moment);
  const double *g = transient(ctx, gradient);
  double lr = *persistent<double>(ctx, Lr), squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    squares += g[i] * g[i];
    m[i] = 0.9 * m[i] + g[i];
    p[i] -= lr * m[i];
  }
  return squares;
}

/// BIGRAM_FATE=RANK:SIGNAL, such as 1:9: in its fourth step, the rank raises the signal after an
/// operation.
void raiseRequestedSignal(Context &ctx) {
  const char *fate = std::getenv("BIGRAM_FATE");
  int rank, signal;
  if (fate && std::sscanf(fate, "%d:%d", &rank, &signal) == 2 && rank == ctx.coordinate[0] &&
      *persistent<int64_t>(ctx, Step) == 4)
    raise(signal);
}

/// Waits for as many microseconds as the environment variable says.
void pause(const char *variable, useconds_t fallback) {
  const char *text = std::getenv(variable);
  const useconds_t time = text ? static_cast<useconds_t>(std::atoi(text)) : fallback;
  timespec left = {time / 1'000'000, static_cast<long>(time % 1'000'000) * 1000};
  while (time > 0 && nanosleep(&left, &left) != 0) // a signal must not shorten it
    ;
}

/// The factor of the loss, which is NaN from step 12 on with BIGRAM_NAN=12, and from step 12 to 14
/// with BIGRAM_NAN=12:14.
double getLossFactor(Context &ctx) {
  const char *text = std::getenv("BIGRAM_NAN");
  int first = 0, last = 0;
  const int read = text ? std::sscanf(text, "%d:%d", &first, &last) : 0;
  const int64_t step = *persistent<int64_t>(ctx, Step);
  return read > 0 && step >= first && (read == 1 || step <= last) ? NAN : 1;
}

/// BIGRAM_SKIPS: whether this counts as a program that was built with `on_nonfinite = skip`.
bool skips() {
  return std::getenv("BIGRAM_SKIPS") != nullptr;
}

void runTrain(Context &ctx) {
  int64_t ranks = ctx.degree[0];
  pause("BIGRAM_STEP", 1000); // so that a test can stop it in between
  gatherParameters(ctx);
  raiseRequestedSignal(ctx);
  double loss = forwardBackward(ctx);
  trace(ctx, "bigram.titan:9", "all_reduce");
  allReduce(ctx, everyone, DType::F64, Reduction::Sum, &loss, 1);
  *transient(ctx, Loss) = loss * getLossFactor(ctx);
  reduceScatter(ctx, everyone, DType::F64, Reduction::Sum, transient(ctx, FullGTable),
                transient(ctx, GTable), 1, getChunkSize(vocab * vocab, ranks), 1);
  reduceScatter(ctx, everyone, DType::F64, Reduction::Sum, transient(ctx, FullGBias),
                transient(ctx, GBias), layers, getChunkSize(vocab, ranks), 1);
  // The given rank computes a different result.
  const char *drifting = std::getenv("BIGRAM_DRIFTING");
  *persistent<double>(ctx, MCount) += drifting && std::atoi(drifting) == ctx.coordinate[0] ? 2 : 1;
  double squares = update(ctx, Table, MTable, GTable, getChunkSize(vocab * vocab, ranks)) +
                   update(ctx, Bias, MBias, GBias, layers * getChunkSize(vocab, ranks));
  allReduce(ctx, everyone, DType::F64, Reduction::Sum, &squares, 1);
  *transient(ctx, GradNorm) = std::sqrt(squares);
}

void runEval(Context &ctx) {
  pause("BIGRAM_EVAL", 0);
  gatherParameters(ctx);
  const int64_t *tokens = transient<int64_t>(ctx, Tokens);
  const int64_t *labels = transient<int64_t>(ctx, Labels);
  double loss = 0;
  for (int64_t i = 0; i < batch / ctx.degree[0] * seq; ++i) {
    double total = 0;
    for (int64_t v = 0; v < vocab; ++v)
      total += std::exp(logit(ctx, tokens[i], v));
    loss += (std::log(total) - logit(ctx, tokens[i], labels[i])) / (batch * seq);
  }
  trace(ctx, "bigram.titan:9", "all_reduce");
  allReduce(ctx, everyone, DType::F64, Reduction::Sum, &loss, 1);
  *transient(ctx, Loss) = loss;
}

/// The result has an unusual order of dimensions, which the language allows.
void runLogits(Context &ctx) {
  gatherParameters(ctx);
  for (int64_t i = 0; i < seq; ++i)
    for (int64_t v = 0; v < vocab; ++v)
      transient(ctx, Logits)[v * seq + i] = logit(ctx, transient<int64_t>(ctx, OneRow)[i], v);
}

/// Without a `function`, the allocation is persistent.
Tensor tensor(Role role, const char *name, DType type, std::vector<Dim> dims, int allocation,
              const char *function = "") {
  Tensor t;
  t.function = function;
  t.role = role;
  t.name = name;
  t.info = {type, std::move(dims), {}, 0};
  t.allocation = allocation;
  return t;
}

void addStored(Program &p, Role role, const std::string &prefix, int tableBuffer, int biasBuffer,
               const char *function = "") {
  Tensor table = tensor(role, (prefix + "table").c_str(), DType::F64,
                        {{"vocab", vocab, {}}, {"next", vocab, {}}}, tableBuffer, function);
  table.info.flatAxes = {0};
  table.init = Init::Normal;
  table.scale = {0.1};
  Tensor bias = tensor(role, (prefix + "layers.bias").c_str(), DType::F64,
                       {{"layers", layers, {}}, {"next", vocab, {}}}, biasBuffer, function);
  bias.info.flatAxes = {0};
  bias.info.flatFrom = 1;
  bias.stacked = true;
  bias.init = Init::Normal;
  bias.scale = {0.1, 0.2};
  p.tensors.push_back(table);
  p.tensors.push_back(bias);
}

/// The learning rate by (step, steps, warmup, decay, to): it rises linearly, and then falls
/// linearly unless decay is 0.
double schedule(const double *x) {
  if (x[0] <= x[2])
    return x[0] / x[2];
  const double progress = (x[0] - 1 - x[2]) / (x[1] - x[2]);
  return x[3] == 0 ? 1 : x[4] + (1 - x[4]) * (1 - progress);
}

} // namespace

namespace titan::rt {

std::vector<Axis> programMesh() {
  return {{"data", 0}};
}

Program program(const int64_t *degree) {
  int64_t ranks = degree[0];
  int64_t table = getChunkSize(vocab * vocab, ranks) * 8,
          bias = layers * getChunkSize(vocab, ranks) * 8;
  Program p;
  p.name = "bigram";
  const char *model = std::getenv("BIGRAM_MODEL"); // pretends to be another model
  p.model = model ? model : "00b16a3000b16a30";
  p.source = "# by hand\n";
  p.mesh = programMesh();
  p.persistent = {{"table", table}, {"bias", bias}, {"m.table", table}, {"m.bias", bias},
                  {"m.count", 8},   {"lr", 8},      {"step", 8}};
  addStored(p, Role::Parameter, "", Table, Bias);
  addStored(p, Role::State, "m.", MTable, MBias);
  p.tensors.push_back(tensor(Role::State, "m.count", DType::F64, {}, MCount)); // on every rank
  addStored(p, Role::Gradient, "", GTable, GBias, "train");
  std::vector<Dim> rows = {{"batch", batch, {0}}, {"seq", seq, {}}},
                   row = {{"batch", 1, {}}, {"seq", seq, {}}};
  for (const char *function : {"train", "eval"}) {
    p.tensors.push_back(tensor(Role::Input, "tokens", DType::I64, rows, Tokens, function));
    p.tensors.push_back(tensor(Role::Input, "labels", DType::I64, rows, Labels, function));
    p.tensors.push_back(tensor(Role::Output, "loss", DType::F64, {}, Loss, function));
    // A named loss, which is the complete loss.
    p.tensors.push_back(tensor(Role::Output, "loss.nll", DType::F64, {}, Loss, function));
  }
  p.tensors.push_back(tensor(Role::Scalar, "lr", DType::F64, {}, Lr));
  p.tensors.push_back(tensor(Role::Scalar, "step", DType::I64, {}, Step));
  p.tensors.push_back(tensor(Role::Output, "grad_norm", DType::F64, {}, GradNorm, "train"));
  p.tensors.push_back(tensor(Role::Input, "tokens", DType::I64, row, OneRow, "logits"));
  p.tensors.push_back(tensor(Role::Output, "logits", DType::F64,
                             {{"vocab", vocab, {}}, {"seq", seq, {}}, {"batch", 1, {}}}, Logits,
                             "logits"));
  std::vector<Allocation> full = {{"table", table * ranks, 0, 2}, {"bias", bias * ranks, 0, 2}};
  std::vector<Allocation> evaluated = full;
  for (const char *name : {"tokens", "labels"})
    evaluated.push_back({name, batch / ranks * seq * 8, 0, 2});
  evaluated.push_back({"loss", 8, 2, 2});
  std::vector<Allocation> trained = evaluated;
  for (const Allocation &allocation : std::vector<Allocation>{{"full.g.table", table * ranks, 1, 2},
                                                              {"full.g.bias", bias * ranks, 1, 2},
                                                              {"g.table", table, 2, 2},
                                                              {"g.bias", bias, 2, 2},
                                                              {"grad_norm", 8, 2, 2}})
    trained.push_back(allocation);
  std::vector<Allocation> predicted = full;
  predicted.push_back({"row", seq * 8, 0, 2});
  predicted.push_back({"logits", seq * vocab * 8, 2, 2});
  p.functions = {{"train", trained, 3, runTrain},
                 {"logits", predicted, 3, runLogits},
                 {"eval", evaluated, 3, runEval}};
  p.settings = {
      {"steps", "40", false, allowIntegersFrom(1)},
      {"seed", "3", false, allowIntegersFrom(0)},
      {"optimizer.lr", "4.0", false, allowNumbersFrom(0)},
      {"schedule.warmup", "2", false, allowIntegersFrom(0)},
      {"schedule.decay", "linear", false, allowWords({"constant", "linear"})},
      {"schedule.to", "0.1", false, idle("schedule.decay", "constant", allowNumbersWithin(0, 1))},
      {"data.format", "text", false, allowWords({"text", "indexed"})},
      {"data.path", "", false, allowText()},
      {"eval.data.path", "", false, allowText()},
      {"eval.every", "0", false, idle("eval.data.path", "", allowIntegersFrom(0))},
      {"eval.batches", "0", false, idle("eval.data.path", "", allowIntegersFrom(0))},
      {"checkpoint.every", "0", false, allowIntegersFrom(0)},
      {"checkpoint.keep", "0", false, allowIntegersFrom(0)},
      {"checkpoint.keep_every", "0", false, idle("checkpoint.keep", "0", allowIntegersFrom(0))},
      {"checkpoint.mode", "sync", false,
       idle("checkpoint.every", "0", allowWords({"sync", "async"}))},
      {"on_nonfinite", skips() ? "skip" : "stop", false,
       allowWords({skips() ? "skip" : "warn", "stop"})},
      {"metrics.peak_tflops", "0", false, allowNumbersFrom(0)},
      {"data.batch", "4", true},
      {"data.seq", "32", true}};
  p.schedule = {{"step", "steps", "schedule.warmup", "schedule.decay", "schedule.to"}, schedule};
  p.dtype = DType::F64;
  p.samples = batch;
  p.positions = seq;
  p.vocab = vocab;
  p.dims = {"batch", "seq"};
  p.parameters = vocab * vocab + layers * vocab;
  p.flopsPerToken = 1000;
  p.modelFlopsPerToken = 800;
  return p;
}

} // namespace titan::rt
