#include "CommandLine.h"
#include "base/cli/Arguments.h"

#include "base/Error.h"
#include "base/settings/UnknownSetting.h"

#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>

namespace titan::rt {

namespace {

void addRunOptions(CLI::App &app, Options &o) {
  app.add_option("--config", o.configFile,
                 "settings from a TOML file; the command line overrides them")
      ->type_name("FILE.toml");
  app.add_option("--set", o.sets,
                 "override a launch setting, such as optimizer.lr=1e-3 (repeatable); a "
                 "compile-time setting is refused with the command that rebuilds")
      ->type_name("PATH=VALUE")
      ->take_all()
      ->expected(1);
  app.add_option("--data", o.data,
                 "the data to read, instead of data.path or, of `eval`, of eval.data.path")
      ->type_name("PATH");
  app.add_option("--eval-data", o.evalData,
                 "the data to evaluate on, instead of eval.data.path; several sets have names "
                 "(repeatable)")
      ->type_name("[NAME=]PATH")
      ->take_all()
      ->expected(1);
  app.add_option("--tokenizer", o.tokenizer,
                 "the tokenizer of texts and prompts: a directory, a file (tokenizer.json, "
                 "SentencePiece, tiktoken), or `bytes`; default: the one in --init-from")
      ->type_name("DIR|FILE");
  app.add_option_function<std::vector<std::string>>(
         "--init-from",
         [&o](const std::vector<std::string> &texts) {
           for (const std::string &text : texts)
             o.initFrom.push_back(parseWeightSource(text));
         },
         "start from these weights: model.safetensors or its directory (repeatable: each parameter "
         "comes from one source); PREFIX= restricts the source to parameters with this prefix")
      ->type_name("[PREFIX=]DIR|FILE")
      ->take_all()
      ->expected(1);
  app.add_option("--resume", o.resume,
                 "auto: the latest checkpoint of --out, if any; none: start over; or the path of a "
                 "checkpoint")
      ->type_name("auto|none|DIR");
  app.add_option("--out", o.out,
                 "the run's directory, default runs/RUN; of `apply`, the directory of the "
                 "arrays, default outputs")
      ->type_name("DIR");
  cli::addNumber<int64_t>(app, "--steps", 1, o.steps,
                          "steps to train; also the horizon of the schedule");
  cli::addPositive(
      app, "--epochs", o.epochs,
      "passes over the training data, instead of --steps; a fraction is a part of a pass")
      ->excludes("--steps");
  cli::addNumber<int64_t>(app, "--stop-at", 0, o.stopAt,
                          "end after this step; the schedule does not change");
  cli::addNumber<int64_t>(app, "--seed", 0, o.seed,
                          "seed of initial values and of the order of samples", int64_t{1} << 53);
  cli::addNumber<int64_t>(app, "--log-every", 1, o.logEvery, "steps between rows of metrics.jsonl")
      ->default_str(std::to_string(o.logEvery));
  app.add_flag("--dry-run", o.dryRun, "print the configuration, check all inputs and exit");
  app.add_flag(
      "--check-replicas", o.checkReplicas,
      "compare replicated tensors over ranks bit by bit, before every checkpoint and at the end");
  app.add_flag("--costs", o.costs,
               "write what each rank sent and the memory that it touched, to compare them with "
               "`titanc info`");
  app.add_flag("--profile{5}", o.profile,
               "write a profile for Perfetto of STEPS steps from the third step on")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20).description(""));
  app.add_option("--save-initial", o.saveInitial, "write the parameters before the first step")
      ->type_name("FILE.safetensors");
  app.add_option("--save-gradients", o.saveGradients,
                 "write the gradients of the first step, before clipping")
      ->type_name("FILE.safetensors");
}

void addCommands(CLI::App &app, Options &o) {
  auto command = [&](const char *name, const char *description, Command value) {
    CLI::App *sub = app.add_subcommand(name, description);
    sub->fallthrough(); // the options above may follow the command
    sub->footer("Options of all commands, such as --init-from and --set: " + o.executable +
                " --help");
    sub->callback([&o, value] { o.command = value; });
    return sub;
  };
  command("train", "train the model (the default command)", Command::Train);
  CLI::App *eval = command("eval", "compute losses and metrics on data sets", Command::Eval);
  eval->add_flag("--json", o.json, "write one JSON object per line for each set");
  CLI::App *generate = command("generate", "generate text", Command::Generate);
  generate->add_option("--prompt", o.prompt, "start of the text; for indexed data, token ids")
      ->type_name("TEXT");
  cli::addNumber<int64_t>(*generate, "--max-tokens", 0, o.maxTokens,
                          "the number of tokens to generate")
      ->default_str(std::to_string(o.maxTokens));
  cli::addNumber<double>(*generate, "--temperature", 0, o.sampling.temperature,
                         "0: the most likely token; above 0: sampling, seeded by --seed")
      ->default_str("0");
  cli::addNumber<int64_t>(*generate, "--top-k", 1, o.sampling.topK,
                          "sample from the k most likely tokens");
  cli::addNumber<double>(*generate, "--top-p", 0, o.sampling.topP,
                         "sample from the smallest set of tokens with this total probability");
  cli::addNumber<double>(*generate, "--min-p", 0, o.sampling.minP,
                         "sample from tokens with at least this fraction of the greatest "
                         "probability");
  cli::addNumber<double>(*generate, "--repetition-penalty", 0, o.sampling.repetitionPenalty,
                         "above 1: tokens of the prompt and of the text are less likely")
      ->default_str("1");
  generate
      ->add_option("--prompts", o.prompts,
                   "a file of prompts to continue in batches, one per line; of a .jsonl file, the "
                   "fields `prompt`")
      ->type_name("FILE");
  generate->add_flag("--json", o.json,
                     "write one JSON object per line: prompt, text, tokens, dropped, finish");
  generate->add_option("--stop", o.stops, "end before this text (repeatable)")
      ->type_name("TEXT")
      ->take_all()
      ->expected(1);
  generate->add_option("--stop-token", o.stopTokens, "end before this token (repeatable)")
      ->type_name("NUMBER")
      ->take_all()
      ->expected(1);
  generate->add_flag("--chat", o.chat, "apply the tokenizer's chat template to each prompt");
  generate->add_flag("--no-kv-cache", o.noKvCache,
                     "recompute the whole text for every token, to check the caches");
  CLI::App *apply =
      command("apply",
              "compute the outputs of the model for the samples of --data, and write them to --out",
              Command::Apply);
  apply
      ->add_option("--images", o.images,
                   "also write this output as pictures: [height, width], or [height, width, "
                   "colours], from 0 to 1")
      ->type_name("OUTPUT");
  CLI::App *hf = command("export", "export the weights for other software", Command::Export);
  hf->add_option("--hf", o.exportDirectory, "as a Hugging Face directory")->type_name("DIR");
  hf->add_option("--dcp", o.distributedDirectory, "as a directory of torch.distributed.checkpoint")
      ->type_name("DIR")
      ->excludes("--hf");
  hf->add_option("--peft", o.adapterDirectory, "the adapters alone, as a directory of PEFT")
      ->type_name("DIR")
      ->excludes("--hf", "--dcp");
  const std::map<std::string, std::string> types = {
      {"auto", "auto"}, {"bf16", "bf16"}, {"f16", "f16"}, {"f32", "f32"}, {"f64", "f64"}};
  cli::addWord(
      *hf, "--dtype", types, o.exportType,
      "element type of the weights; auto: tensors of a Hugging Face directory keep theirs, "
      "others have the one of `export.dtype`")
      ->default_str(o.exportType);
}

/// Options that only some commands use; all commands accept the others.
struct OptionUse {
  const char *option;
  std::vector<Command> commands;
  const char *instead = ""; // what to do instead, for the message to other commands
};

const std::vector<OptionUse> &listOptionUses() {
  static const std::vector<OptionUse> table = {
      {"--steps", {Command::Train}, "to evaluate fewer batches, pass `--set eval.batches=N`"},
      {"--epochs", {Command::Train}, "to evaluate fewer batches, pass `--set eval.batches=N`"},
      {"--stop-at", {Command::Train}, "to evaluate fewer batches, pass `--set eval.batches=N`"},
      {"--resume", {Command::Train}, "`--init-from` takes checkpoints, too"},
      {"--out", {Command::Train, Command::Apply}, "`--init-from DIR` names a run"},
      {"--log-every", {Command::Train}},
      {"--check-replicas", {Command::Train}},
      {"--costs", {Command::Train}},
      {"--profile", {Command::Train}},
      {"--save-initial", {Command::Train}},
      {"--save-gradients", {Command::Train}},
      {"--data", {Command::Train, Command::Eval, Command::Apply}},
      {"--eval-data", {Command::Train, Command::Eval}},
      {"--seed", {Command::Train, Command::Generate, Command::Apply}},
  };
  return table;
}

/// Several data sets are joined to one text later (base/data/DataPaths.h), so they need names and
/// no spaces.
void checkEvaluationData(const std::vector<std::string> &sets) {
  if (sets.size() < 2)
    return;
  for (const std::string &set : sets) {
    if (set.find('=') == std::string::npos)
      throw UsageError("--eval-data '" + set + "': several sets need names, NAME=PATH");
    if (set.find_first_of(" \t\n") != std::string::npos)
      throw UsageError("--eval-data '" + set + "': paths of several sets cannot have spaces");
  }
}

void checkWeightSources(const std::vector<WeightSource> &sources) {
  for (const WeightSource &source : sources)
    if (source.path.empty())
      throw UsageError("--init-from '" + source.text() + "' names no file or directory");
}

void checkSampling(const Sampling &sampling) {
  if (!(sampling.topP > 0 && sampling.topP <= 1))
    throw UsageError("--top-p takes a probability above 0 and up to 1");
  if (!(sampling.minP >= 0 && sampling.minP <= 1))
    throw UsageError("--min-p takes a fraction from 0 to 1");
  if (!(sampling.repetitionPenalty > 0))
    throw UsageError("--repetition-penalty takes a number above 0");
  if (sampling.temperature == 0 && sampling.minP > 0)
    throw UsageError("--min-p has no effect without a --temperature above 0");
  if (sampling.temperature == 0 && (sampling.topK > 0 || sampling.topP < 1))
    throw UsageError("--top-k and --top-p have no effect without a --temperature above 0");
}

/// Refuses options that have no effect on the command, and contradictory ones.
void refuseIneffective(const CLI::App &app, const Options &options) {
  for (const OptionUse &use : listOptionUses()) {
    auto &commands = use.commands;
    if (app.count(use.option) == 0 ||
        std::find(commands.begin(), commands.end(), options.command) != commands.end())
      continue;
    const std::string command = app.get_subcommands().at(0)->get_name();
    throw UsageError(std::string(use.option) + " has no effect on `" + command + "`" +
                     (*use.instead ? std::string("; ") + use.instead : ""));
  }
  checkSampling(options.sampling);
  checkWeightSources(options.initFrom);
  checkEvaluationData(options.evalData);
  if (!options.prompt.empty() && !options.prompts.empty())
    throw UsageError("--prompt and --prompts cannot be combined");
  const bool namesCheckpoint = options.resume != "auto" && options.resume != "none";
  if (namesCheckpoint && !options.initFrom.empty())
    throw UsageError("--resume " + options.resume +
                     " already has weights: remove --init-from, or pass --resume none to start "
                     "over with its weights");
}

/// The text of the error, with a suggestion for an unknown option or command.
std::string explain(const CLI::App &app, const CLI::ParseError &error) {
  std::string unknown = cli::unknownArgument(error);
  if (unknown.empty())
    return cli::explain(error);
  if (unknown[0] == '-')
    return cli::explain(error) + cli::didYouMean(unknown, cli::getOptionNames(app));
  if (!app.get_subcommands().empty()) // a command was given
    return cli::explain(error);
  std::string meant = cli::didYouMean(unknown, cli::getCommandNames(app));
  return "there is no command `" + unknown + "`" +
         (meant.empty() ? "; the commands are " + listNames(cli::getCommandNames(app)) : meant);
}

} // namespace

std::optional<Options> parseCommandLine(int argc, const char *const *argv,
                                        const std::string &programName) {
  Options options;
  options.executable = argc > 0 ? argv[0] : programName;
  CLI::App app("Trains " + programName +
                   ", compiled by Titan. Start several processes by torchrun, "
                   "srun or mpirun.",
               options.executable);
  app.require_subcommand(0, 1);
  addRunOptions(app, options);
  addCommands(app, options);
  try {
    app.parse(argc, argv);
    cli::refuseEmpty(app);
    for (const CLI::App *command : app.get_subcommands())
      cli::refuseEmpty(*command, "--prompt"); // the reader of prompts refuses an empty one
    refuseIneffective(app, options);
  } catch (const CLI::CallForHelp &help) {
    app.exit(help, std::cout, std::cout);
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    throw UsageError(explain(app, error));
  }
  return options;
}

} // namespace titan::rt
