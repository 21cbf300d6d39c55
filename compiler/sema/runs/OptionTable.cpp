// The table of options: a function for each section.
#include "base/schedule/Generators.h"
#include "compiler/sema/runs/Options.h"

namespace titan::sema {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

OptionSpec integer(const char *path, Value initial, Fixed fixed, double least, const char *doc) {
  return {path, OptionType::Integer, std::move(initial), fixed, doc, least, 0x1p53, {}};
}

OptionSpec number(const char *path, double initial, Fixed fixed, double least, double most,
                  const char *doc) {
  return {path, OptionType::Float, Value::ofFloat(initial), fixed, doc, least, most, {}};
}

/// False by default.
OptionSpec flag(const char *path, const char *doc) {
  return {path, OptionType::Bool, Value::ofBool(false), Fixed::Compile, doc, 0, 0, {}};
}

OptionSpec choice(const char *path, Fixed fixed, std::vector<std::string> choices,
                  const char *doc) {
  return {path, OptionType::Choice, Value::ofWord(choices[0]), fixed, doc, 0, 0, choices};
}

OptionSpec elementType(const char *path, std::vector<std::string> choices, const char *doc) {
  return choice(path, Fixed::Compile, std::move(choices), doc);
}

OptionSpec text(const char *path, const char *doc) {
  return {path, OptionType::String, Value::ofString(""), Fixed::Launch, doc, 0, 0, {}};
}

/// A choice that also accepts paths with this ending.
OptionSpec orFile(const char *end, OptionSpec spec) {
  spec.pathEnd = end;
  return spec;
}

OptionSpec file(const char *path, const char *doc) {
  return orFile("", text(path, doc));
}

OptionSpec list(const char *path, OptionType type, std::vector<std::string> choices,
                const char *doc) {
  return {path, type, Value::ofList({}), Fixed::Compile, doc, 0, 0x1p53, std::move(choices)};
}

/// An option that has no effect unless another option is set.
OptionSpec effectiveWith(const char *needs, OptionSpec spec) {
  spec.needs = needs;
  return spec;
}

/// The name of a declaration. The default is that of the file or of the standard library.
OptionSpec declaration(const char *path, const char *doc) {
  return {path, OptionType::Declaration, Value::ofWord(""), Fixed::Compile, doc, 0, 0, {}};
}

/// The name of a dimension of inputs. The default is that of the model's file or of the standard
/// library.
OptionSpec dimension(const char *path, const char *doc) {
  return {path, OptionType::Dimension, Value::ofWord(""), Fixed::Compile, doc, 0, 0, {}};
}

OptionSpec tokens() {
  OptionSpec spec = integer("data.tokens", Value::ofInt(0), Fixed::Compile, 0,
                            "tokens in a step, in microbatches of `data.batch` samples; 0: a step "
                            "has `data.batch` samples");
  spec.samples = {"4096", "8192"};
  return spec;
}

/// Arrays may lack this dimension.
OptionSpec sequence() {
  OptionSpec spec = integer("data.seq", {}, Fixed::Compile, 1, "tokens in a sample");
  spec.optionalWith = {"data.format", "arrays"};
  return spec;
}

/// The division of the tokens of a data set into samples.
OptionSpec packing(const std::string &section, std::vector<std::string> choices,
                   const std::string &default_) {
  const std::string doc =
      "division of tokens into samples; none: slices of the stream of all documents, documents: "
      "packs of whole documents, whose last slots may be unused" +
      default_;
  OptionSpec spec =
      choice((section + ".packing").c_str(), Fixed::Launch, std::move(choices), doc.c_str());
  spec.needs = section + ".format=indexed";
  spec.idleValue = "text"; // a text is one document
  return spec;
}

/// The treatment of packed documents, also of those to evaluate on.
OptionSpec overlong() {
  OptionSpec spec =
      choice("data.overlong", Fixed::Launch, {"auto", "split", "truncate", "skip"},
             "packed documents longer than a sample; split: into several, truncate: cut at the "
             "end, skip: left out, auto: split, and refused if only answers count in the loss");
  spec.needs = "data.packing=documents";
  spec.idleValue = "none";
  return spec;
}

std::vector<OptionSpec> dataOptions() {
  return {
      choice("data.format", Fixed::Launch, {"text", "indexed", "arrays"},
             "format of the data; text: bytes as tokens, indexed: FILE.bin with its FILE.idx (as "
             "Megatron-LM), arrays: one array per input; written `data = text(\"FILE\")`"),
      file("data.path", "the file to train on, relative to the .titan file"),
      packing("data", {"none", "documents"}, ""),
      overlong(),
      integer("data.batch", {}, Fixed::Compile, 1, "samples in a step, over all processes"),
      sequence(),
      tokens(),
      dimension("data.samples", "the dimension of samples in inputs; its size is `data.batch`"),
      dimension("data.positions", "the dimension of positions in inputs; its size is `data.seq`"),
  };
}

std::vector<OptionSpec> evaluationOptions() {
  return {
      choice(
          "eval.data.format", Fixed::Launch, {"auto", "text", "indexed", "arrays"},
          "format of the evaluation data, written `eval { data = text(\"FILE\") }`; auto: that of "
          "the training data"),
      file("eval.data.path", "the file to evaluate on; a program without it and `eval.data.format` "
                             "is compiled without "
                             "evaluation"),
      packing("eval.data", {"auto", "none", "documents"}, "; auto: `data.packing`"),
      effectiveWith("eval.data.path=\"FILE\"",
                    integer("eval.every", Value::ofInt(0), Fixed::Launch, 0,
                            "steps between evaluations; 0: only the command `eval` evaluates")),
      effectiveWith("eval.data.path=\"FILE\"",
                    integer("eval.batches", Value::ofInt(0), Fixed::Launch, 0,
                            "most batches of an evaluation; 0: the whole set")),
  };
}

OptionSpec best() {
  OptionSpec spec = effectiveWith(
      "eval.every=100", choice("checkpoint.best", Fixed::Launch, {"none", "loss"},
                               "loss: keep the weights of the evaluation with the least loss, as "
                               "best.safetensors"));
  spec.idleValue = "0";
  return spec;
}

OptionSpec checkpointMode() {
  OptionSpec spec = effectiveWith(
      "checkpoint.every=100",
      choice("checkpoint.mode", Fixed::Launch, {"sync", "async"},
             "sync: training waits for a checkpoint; async: the tensors are copied, and written "
             "beside the next steps"));
  spec.idleValue = "0";
  return spec;
}

/// Without `keep`, all stay.
OptionSpec keepEvery() {
  OptionSpec spec = effectiveWith(
      "checkpoint.keep=3",
      integer("checkpoint.keep_every", Value::ofInt(0), Fixed::Launch, 0,
              "checkpoints whose step is a multiple of this number also stay; 0: none"));
  spec.idleValue = "0";
  return spec;
}

std::vector<OptionSpec> checkpointOptions() {
  return {
      integer("checkpoint.every", Value::ofInt(0), Fixed::Launch, 0,
              "steps between checkpoints; 0: only a run that is stopped by a signal saves one"),
      integer("checkpoint.keep", Value::ofInt(3), Fixed::Launch, 0,
              "number of latest checkpoints that are kept; 0: all"),
      keepEvery(),
      checkpointMode(),
      best(),
  };
}

std::vector<OptionSpec> metricsOptions() {
  return {
      number("metrics.peak_tflops", 0, Fixed::Launch, 0, unbounded,
             "peak TFLOP/s of the device of one process, the denominator of `mfu`; 0: the "
             "published peak, if known"),
      flag("metrics.training",
           "compute the model's metrics in training steps, not only in evaluations"),
  };
}

std::vector<OptionSpec> precisionOptions() {
  return {
      elementType("precision.params", {"f32", "f64", "bf16"}, "element type of parameters"),
      elementType("precision.compute", {"f32", "f64", "bf16"},
                  "element type of computations outside of precision regions"),
      effectiveWith("precision.compute=bf16",
                    elementType("precision.reduce", {"auto", "f32", "f64", "bf16"},
                                "element type in which gradients of parameters are reduced; auto: "
                                "the wider of f32 and `compute`")),
      effectiveWith(
          "precision.compute=bf16",
          elementType(
              "precision.activations_reduce", {"auto", "f32", "f64", "bf16"},
              "element type in which values of the type `compute` are reduced; auto: `compute`")),
      elementType("precision.optimizer", {"auto", "f32", "f64", "bf16"},
                  "element type of the optimizer's state; auto: the wider of f32 and `params`"),
  };
}

std::vector<OptionSpec> shardingOptions() {
  return {
      choice(
          "sharding.reshard_after_forward", Fixed::Compile, {"default", "always", "never"},
          "parameters that the backward pass gathers again; default: those of layers, always: all, "
          "never: none"),
      choice(
          "sharding.gather", Fixed::Compile, {"auto", "step", "microbatch"},
          "when sharded parameters are gathered; step: once, for all microbatches; auto: step in "
          "a pipeline, else microbatch"),
      choice("sharding.reduce", Fixed::Compile, {"auto", "step", "microbatch"},
             "when gradients are reduced to shards; step: once, after the sum over "
             "microbatches; auto: step in a pipeline, else microbatch"),
      choice("sharding.overlap", Fixed::Compile, {"always", "never"},
             "overlap communication with computation: prefetch parameters, wait for a reduction at "
             "its first use"),
      choice("sharding.chunk_products", Fixed::Compile, {"never", "auto", "always"},
             "divide gathers and reductions of activations and their products into chunks, so "
             "that messages run beside products; auto: where this saves time"),
      list("offload", OptionType::Words, {"optimizer", "params"},
           "tensors in memory of the host instead of the device: the optimizer's state, "
           "parameters"),
      integer("sharding.prefetch", Value::ofInt(1), Fixed::Compile, 0,
              "layers by which the all-gather of sharded parameters is ahead of their use; 0: "
              "no prefetch"),
  };
}

std::vector<OptionSpec> optimizerOptions() {
  return {
      declaration("optimizer.name", "the optimizer; written `optimizer = NAME { ... }`, with the "
                                    "options that it declares"),
      number("optimizer.lr", 1e-3, Fixed::Launch, 0, unbounded,
             "peak learning rate of the schedule"),
  };
}

std::vector<OptionSpec> scheduleOptions() {
  return {
      declaration(
          "schedule.name",
          "schedule of the learning rate; written `schedule = NAME { ... }`, with the options "
          "that it declares"),
  };
}

std::vector<OptionSpec> stepOptions() {
  return {
      number("clip", 0, Fixed::Compile, 0, unbounded,
             "largest gradient norm over all parameters; 0: no clipping"),
      number("clip_value", 0, Fixed::Compile, 0, unbounded,
             "largest magnitude of an element of a gradient, after `clip`; 0: no clipping"),
      choice("on_nonfinite", Fixed::Launch, {"stop", "skip", "warn"},
             "action after a step whose loss or gradient norm is not finite; stop: end with status "
             "76, "
             "skip: skip the update, warn: continue; a program built with `skip` cannot `warn`, "
             "and only "
             "such a program can `skip`"),
      flag("check_numbers",
           "after a step that is not finite, run it again and name the operation and the line that "
           "first make a "
           "number that is not finite; the program is larger, but its steps are as fast"),
      integer("accumulate", Value::ofInt(1), Fixed::Compile, 1,
              "microbatches of a step, whose gradients are accumulated"),
      integer(
          "loss_chunks", Value::ofInt(0), Fixed::Compile, 0,
          "chunks of the sequence for logits, loss and their gradients, one chunk at a time; 0: "
          "as many as save memory"),
  };
}

std::vector<OptionSpec> recomputeOptions() {
  return {
      choice("recompute", Fixed::Compile, {"none", "full"},
             "forward values of a repeat that the backward pass recomputes"),
      integer(
          "recompute.every", Value::ofInt(0), Fixed::Compile, 0,
          "recompute every n-th layer: the layers n - 1, 2n - 1, ...; 0: the other options decide"),
      list("recompute.layers", OptionType::Integers, {},
           "the layers to recompute, counted from 0; none: the other options decide"),
      list("recompute.save", OptionType::Words,
           {"matmul", "attention", "rotary", "reduce", "gather"},
           "save the results of these operations and recompute the rest"),
      list("recompute.blocks", OptionType::Words, {},
           "recompute only the calls of these blocks; none: the other options decide"),
  };
}

/// Each option has one sample value, because the test that sets all options has programs without a
/// pipeline.
std::vector<OptionSpec> pipelineOptions() {
  std::vector<std::string> words{"auto"};
  for (const schedule::Algorithm &algorithm : schedule::allAlgorithms())
    words.emplace_back(algorithm.name);
  OptionSpec schedule = orFile(
      ".csv", choice("pipeline.schedule", Fixed::Compile, words,
                     "order of the stages' forward and backward passes, by name or as a table "
                     "\"FILE.csv\"; auto: 1f1b, or interleaved_1f1b with several stages per rank"));
  OptionSpec microbatches =
      integer("pipeline.microbatches", Value::ofInt(0), Fixed::Compile, 0,
              "microbatches of a step in a pipeline; 0: those of the table, or as many as stages");
  OptionSpec layers =
      list("pipeline.layers_per_stage", OptionType::Integers, {},
           "layers of each stage; none: the division by cost with the fastest slowest stage");
  OptionSpec cuts =
      list("pipeline.cuts", OptionType::Words, {},
           "first layer of each stage except the first, by name (\"layers.4\"); none: "
           "`pipeline.layers_per_stage` decides");
  schedule.samples = {"\"1f1b\""};
  microbatches.samples = {"4"};
  layers.samples = {"[3, 3]"};
  cuts.samples = {"[\"layers.3\"]"};
  return {schedule, microbatches, layers, cuts};
}

std::vector<OptionSpec> generationOptions() {
  return {
      integer("generate.batch", Value::ofInt(8), Fixed::Compile, 1,
              "prompts that `generate --prompts` continues at once; 1: one after another"),
  };
}

std::vector<OptionSpec> exportOptions() {
  return {
      choice("export.dtype", Fixed::Launch, {"auto", "bf16", "f16", "f32", "f64"},
             "element type of exported weights that do not come directly from files of other "
             "software; auto: `precision.params`"),
  };
}

std::vector<OptionSpec> lengthOptions() {
  return {
      integer("steps", Value::ofInt(100), Fixed::Launch, 1, "steps to train"),
      integer("seed", Value::ofInt(0), Fixed::Launch, 0,
              "seed of initial values and of the order of samples"),
  };
}

std::vector<OptionSpec> joined() {
  std::vector<OptionSpec> all;
  for (auto section :
       {dataOptions, evaluationOptions, checkpointOptions, metricsOptions, precisionOptions,
        shardingOptions, optimizerOptions, scheduleOptions, stepOptions, recomputeOptions,
        pipelineOptions, generationOptions, exportOptions, lengthOptions})
    for (OptionSpec &spec : section())
      all.push_back(std::move(spec));
  return all;
}

} // namespace

const std::vector<OptionSpec> &optionTable() {
  static const std::vector<OptionSpec> table = joined();
  return table;
}

const std::vector<OptionSpec> &groupOptions() {
  static const std::vector<OptionSpec> table = {
      // A factor, because the learning rate itself may change at launch.
      number("lr_scale", 1, Fixed::Compile, 0, unbounded, "factor of the learning rate"),
      list("loss", OptionType::Words, {},
           "the named losses whose sum the parameters minimise; none: the sum of all losses"),
      integer("every", Value::ofInt(1), Fixed::Compile, 1, "steps between two updates"),
      integer("offset", Value::ofInt(0), Fixed::Compile, 0, "steps before the first update"),
  };
  return table;
}

const std::vector<OptionSpec> &ruleOptions() {
  static const std::vector<OptionSpec> table = {
      {"init",
       OptionType::Initialiser,
       {},
       Fixed::Compile,
       "distribution or number of the initial values",
       0,
       0,
       {}},
      {"frozen", OptionType::Bool, Value::ofBool(false), Fixed::Compile, "not trained", 0, 0, {}},
      choice(
          "init_from", Fixed::Compile, {"required", "optional", "partial", "copy"},
          "requirement on weights to start from; required: all elements, optional: the parameter "
          "may be missing, partial: dimensions may be shorter; other elements keep their initial "
          "values; copy: if it is missing, that of the parameter without the first part of the "
          "name"),
      {"export",
       OptionType::Bool,
       Value::ofBool(true),
       Fixed::Compile,
       "files for other software contain it",
       0,
       0,
       {}},
      {"adapter",
       OptionType::Adapter,
       Value::none(),
       Fixed::Compile,
       "function or block of the parameter whose result the model uses instead of it",
       0,
       0,
       {}},
  };
  return table;
}

std::vector<std::string> getNames(const std::vector<OptionSpec> &table) {
  std::vector<std::string> names;
  for (const OptionSpec &spec : table)
    names.push_back(spec.path);
  return names;
}

const OptionSpec *findOption(const std::vector<OptionSpec> &table, const std::string &path) {
  for (const OptionSpec &spec : table)
    if (spec.path == path)
      return &spec;
  return nullptr;
}

const std::string &currentPath(const std::string &path) {
  static const std::map<std::string, std::string> renamed = {{"loss_parts", "loss_chunks"}};
  auto found = renamed.find(path);
  return found == renamed.end() ? path : found->second;
}

const OptionSpec *findOption(const std::string &path) {
  return findOption(optionTable(), path);
}

} // namespace titan::sema
