#include "compiler/sema/check/Check.h"
#include "base/data/Feed.h"
#include "compiler/sema/check/Patterns.h"
#include "compiler/sema/elaboration/Elaborator.h"
#include "compiler/sema/interchange/AdapterFiles.h"
#include "compiler/sema/interchange/ExportConfig.h"
#include "compiler/sema/mesh/Pipeline.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/program/Reachability.h"
#include "compiler/sema/runs/AdapterRules.h"
#include "compiler/sema/runs/Config.h"
#include "compiler/sema/runs/DataDims.h"
#include "compiler/sema/runs/Effects.h"
#include "compiler/sema/runs/ParameterRules.h"
#include "compiler/sema/runs/Turns.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

Checker::Checker(SourceManager &sources, DiagnosticEngine &diags, const CheckRequest &request)
    : sources(sources), diags(diags), request(request),
      library(sources, diags, request.searchDirs) {}

bool Checker::load() {
  unit = library.loadRoot(request.file, request.text);
  return unit && parseOverrides();
}

bool Checker::parseOverrides() {
  if (!request.config.empty())
    overrides = readConfig(request.config, sources, diags);
  for (const std::string &argument : request.overrides)
    if (std::optional<Override> parsed = parseOverride(argument, sources, diags))
      overrides.push_back(std::move(*parsed));
  return !diags.hasErrors();
}

std::optional<CheckedRun> Checker::check() {
  checkWeightNames(*unit, library, diags);
  std::optional<Symbol> chosen = choose();
  if (chosen && request.needsRun && !chosen->decl->is<TrainDecl>()) {
    reportNoRun(*chosen);
    return std::nullopt;
  }
  return chosen ? checkRun(*chosen) : std::nullopt;
}

std::optional<std::vector<CheckedRun>> Checker::checkAll() {
  std::vector<CheckedRun> checked;
  if (!request.train.empty() || !request.model.empty()) {
    std::optional<CheckedRun> one = check();
    if (!one)
      return std::nullopt;
    if (request.model.empty())
      checked.push_back(std::move(*one));
    return checked;
  }
  size_t errorsBefore = diags.errorReports();
  checkConfigs();
  checkWeightNames(*unit, library, diags);
  bool good = diags.errorReports() == errorsBefore;
  std::vector<Symbol> runs = listDeclared(/*runs=*/true);
  auto add = [&](const Symbol &symbol) {
    if (work > maxWork) // reported already
      return;
    std::optional<CheckedRun> one = checkRun(symbol);
    good &= one.has_value();
    if (one)
      checked.push_back(std::move(*one));
  };
  for (const Symbol &symbol : runs)
    add(symbol);
  const size_t runsChecked = checked.size();
  if (!runs.empty())
    overrides.clear(); // the command line sets options of runs, not of models
  std::set<const Decl *> trained;
  for (const Symbol &symbol : runs)
    trained.insert(findModel(symbol));
  for (const Symbol &model : listDeclared(/*runs=*/false))
    if (!trained.count(model.decl)) // models of runs are checked, at the sizes of the runs
      add(model);
  if (!checkUnusedMaps(checked) || !good)
    return std::nullopt;
  checked.erase(checked.begin() + static_cast<std::ptrdiff_t>(runsChecked), checked.end());
  return checked;
}

/// Checks maps that no run uses, as far as possible without a run.
bool Checker::checkUnusedMaps(const std::vector<CheckedRun> &checked) {
  size_t errorsBefore = diags.errorReports();
  std::vector<const Model *> models;
  for (const CheckedRun &one : checked)
    models.push_back(&one.train);
  std::set<const Decl *> used;
  for (const Symbol &symbol : listDeclared(/*runs=*/true))
    if (auto &parallel = symbol.decl->as<TrainDecl>()->parallel)
      used.insert(library.lookup(*unit, *parallel, Namespace::Maps).decl);
  for (const DeclPtr &decl : unit->module->decls) {
    if (!decl->is<ParallelDecl>() || used.count(decl.get()))
      continue;
    Run none;
    none.parallel = {decl.get(), unit};
    std::optional<Mesh> mesh = resolveMesh(none, library, diags);
    if (!mesh || models.empty())
      continue;
    checkNames(*mesh, models, diags);
    matchOverrides(*mesh, models, diags);
  }
  return diags.errorReports() == errorsBefore;
}

/// The model of a run with all arguments that its declaration and the run set.
std::optional<SpecifiedModel> Checker::specify(const Run &run, DiagnosticEngine &diags) {
  std::optional<SpecifiedModel> model = specifyModel(run.model, library, diags);
  if (model)
    for (const auto &[name, option] : run.modelArguments)
      model->arguments[name] = {option.value, option.loc};
  return model;
}

/// The configuration by the first declaration that can express the model; empty if none can.
std::optional<std::string> Checker::buildConfig(const CheckedRun &checked) {
  const Run &run = checked.run;
  std::optional<SpecifiedModel> model = specify(run, diags);
  if (!model)
    return std::nullopt;
  std::vector<CalledModel> models = {{"", run.model, model->arguments}};
  for (const CalledModel &called : checked.calledModels)
    if (called.prefix.empty()) // a model around another one, which files contain
      models.push_back(called);
  for (const CalledModel &each : models)
    for (const Symbol &decl : findConfigs(each.model, *unit, library))
      if (std::optional<ConfigMap> map = resolveConfig(decl, library, diags))
        if (auto config = exportConfig(*map, each.arguments, run["data.seq"], library, sources))
          return checked.weights ? addAdapterConfigs(*config, checked.adapters, *checked.weights,
                                                     library, diags)
                                 : *config;
  return std::nullopt;
}

void Checker::checkConfigs() {
  for (const DeclPtr &decl : unit->module->decls)
    if (auto *config = decl->as<ConfigDecl>();
        config && config->model && !isOfAdapter(*decl, *unit, library))
      if (std::optional<ConfigMap> map = resolveConfig({decl.get(), unit}, library, diags))
        checkConfig(*map, diags);
}

bool Checker::specialise(const CheckedRun &checked, int64_t batch, Model &model,
                         DiagnosticEngine &diags, std::vector<CalledModel> *called) {
  const size_t errorsBefore = diags.errorReports();
  if (!elaborateModel(checked, batch, model, diags, called))
    return false;
  applyRules(checked.run, model, diags);
  return batch || diags.errorReports() == errorsBefore;
}

/// The model without adapters tells which parameters are matrices. Its errors are those of the
/// model with adapters, which reports them.
bool Checker::adapt(CheckedRun &checked) {
  Model plain;
  DiagnosticEngine trial(sources);
  if (!hasAdapters(checked.run) || !elaborateModel(checked, 0, plain, trial))
    return true;
  const size_t errorsBefore = diags.errorReports();
  checked.adapters = findAdapters(checked.run, plain, diags);
  return diags.errorReports() == errorsBefore;
}

bool Checker::elaborateModel(const CheckedRun &checked, int64_t batch, Model &model,
                             DiagnosticEngine &diags, std::vector<CalledModel> *called) {
  Specialisation spec;
  spec.calledModels = called;
  spec.work = &work;
  spec.adapters = &checked.adapters;
  size_t errorsBefore = diags.errorReports();
  std::optional<SpecifiedModel> specified = specify(checked.run, diags);
  if (!specified)
    return false;
  if (!checkArguments(*specified, diags) || diags.errorReports() != errorsBefore)
    return false;
  spec.arguments = std::move(specified->arguments);
  auto dim = [&](const char *path) {
    const Option &option = checked.run.options.at(path);
    return Argument{option.value, option.loc};
  };
  const DataDims &dims = spec.dataDims = checked.run.dims;
  spec.readsTokens = !checked.run.readsArrays();
  spec.sizes[dims.samples] = dim("data.batch");
  if (spec.readsTokens || checked.run.options.at("data.seq").loc.isValid())
    spec.sizes[dims.positions] = dim("data.seq");
  for (const auto &[name, option] : checked.run.dataSizes)
    spec.sizes[name] = {option.value, option.loc};
  if (batch) {
    spec.sizes[dims.samples].value = Value::ofInt(batch);
    spec.tolerant = true;
  }
  auto dtype = [&](const char *path) { return *floatCalled(checked.run[path].print()); };
  spec.params = dtype("precision.params");
  spec.compute = dtype("precision.compute");
  return elaborate(specified->base, spec, library, diags, model);
}

/// Specialises the model for one sample. Values that only the losses use, such as pairs of samples,
/// may have errors then, but not `logits`.
bool Checker::specialiseForInference(CheckedRun &checked) {
  auto find = [](const Model &model) {
    return std::find_if(model.outputs.begin(), model.outputs.end(),
                        [](const Output &output) { return output.name == "logits"; });
  };
  if (checked.train.outputs.empty())
    return true;
  DiagnosticEngine trial(sources);
  if (!specialise(checked, 1, checked.logits, trial))
    checked.logits = {};
  auto wanted = find(checked.train);
  if (wanted == checked.train.outputs.end() || find(checked.logits) != checked.logits.outputs.end())
    return true;
  Diagnostic &diag = diags.report(Code::LogitsNeedBatch, wanted->loc,
                                  "`logits` cannot be computed for a single sample, as text "
                                  "generation needs it");
  constexpr size_t maxNotes = 3;
  auto isAfterOutput = [&](const Diagnostic &each) { // code after the output is not its cause
    return each.notes.empty() && each.location.file == wanted->loc.file &&
           each.location.line > wanted->loc.line;
  };
  for (const Diagnostic &each : trial.all())
    if (each.severity == Severity::Error && diag.notes.size() < maxNotes && !isAfterOutput(each))
      diag.note(each.location, "with a batch of 1: " + each.message);
  diag.help("give the output another name if the model generates no text");
  return false;
}

void Checker::warnUnused(const CheckedRun &checked) {
  const Model &model = checked.train;
  std::map<std::vector<std::string>, Reachability> needed; // by names of losses
  auto isNeeded = [&](uint32_t i) {
    std::vector<std::string> losses = getLossNames(checked.run, model, model.parameters[i]);
    const std::vector<ValueId> roots = getLossValues(model, losses);
    return needed.try_emplace(std::move(losses), model, roots).first->second.parameters.count(i) >
           0;
  };
  for (uint32_t i = 0; i < model.parameters.size(); ++i)
    if (!model.parameters[i].isBuffer && !isNeeded(i)) // a buffer may be a result itself
      diags.report(Code::UnusedParameter, model.parameters[i].loc,
                   "the loss does not depend on parameter `" + model.parameters[i].name + "`");
}

/// Reports a run without trained parameters and buffers.
void Checker::checkTrains(const CheckedRun &checked) {
  std::vector<Parameter> all = checked.train.parameters;
  std::erase_if(all, [](const Parameter &one) { return one.isBuffer; });
  if (std::any_of(all.begin(), all.end(), [](const Parameter &one) { return !one.frozen; }))
    return;
  Diagnostic &diag =
      diags.report(Code::NothingToTrain, checked.run.loc,
                   "run `" + checked.run.name + "` trains nothing: " +
                       (all.empty() ? "its model has no parameters" : "all parameters are frozen"));
  if (all.empty())
    diag.note(checked.train.loc, "the model is declared here").help("declare one: `param ...`");
  else
    diag.help("train some of them: `parameters \"" + all.back().name + "\" { frozen = false }`");
}

static std::string listFeeds() {
  std::vector<std::string> names;
  for (const NamedFeed &feed : feeds)
    names.push_back(feed.name);
  return listNames(names);
}

/// The dimensions in their order, which is that of the data in memory.
static std::string listDims(const Model &model, const Input &input) {
  std::string dims;
  for (DimId dim : input.type.dims)
    dims += (dims.empty() ? "" : ", ") + model.dims[dim].name;
  return dims;
}

/// Tokens give inputs by name, with the dimensions of samples and positions.
static void checkTokenInput(const CheckedRun &checked, const Input &input,
                            DiagnosticEngine &diags) {
  if (!findFeed(input.name)) {
    diags.report(Code::UnfedInput, input.loc, "the data have no input `" + input.name + "`")
        .note(checked.run.modelLoc, "for this run")
        .help("tokens give the inputs " + listFeeds() +
              "; `data = arrays(\"FOLDER\")` gives any input");
    return;
  }
  const std::string dims = listDims(checked.train, input);
  const bool isWeight = findFeed(input.name) == Feed::Weights;
  const bool hasType = isWeight ? isFloat(input.type.dtype) : input.type.dtype == DType::I64;
  const std::string given = checked.run.dims.list();
  if (hasType && dims == given)
    return;
  const std::string type = (isWeight ? "f32[" : "int[") + given + "]";
  diags
      .report(Code::UnfedInput, input.loc,
              "data give `" + input.name + "` as " + type + ", not " + spelling(input.type.dtype) +
                  "[" + dims + "]")
      .note(checked.run.modelLoc, "for this run")
      .help("write `input " + input.name + ": " + type + "`");
}

/// Arrays give any input whose first dimension is that of the samples.
static void checkArrayInput(const CheckedRun &checked, const Input &input,
                            DiagnosticEngine &diags) {
  const Model &model = checked.train;
  const DimSet &dims = input.type.dims;
  const std::string &samples = checked.run.dims.samples;
  if (dims.empty() || model.dims[dims[0]].name != samples)
    diags
        .report(Code::UnfedInput, input.loc,
                "an array gives `" + input.name + "` for each sample, so its first dimension is `" +
                    samples + "`, not [" + listDims(model, input) + "]")
        .note(checked.run.modelLoc, "for this run");
}

/// Reports sizes of dimensions that no input has.
static void checkDataSizes(const CheckedRun &checked, DiagnosticEngine &diags) {
  std::set<std::string> names;
  for (const Input &input : checked.train.inputs)
    for (DimId dim : input.type.dims)
      names.insert(checked.train.dims[dim].name);
  for (const auto &[name, option] : checked.run.dataSizes) {
    if (names.count(name))
      continue;
    Diagnostic &diag = diags.report(Code::UnknownOption, option.nameLoc,
                                    "no input of the model has a dimension `" + name + "`");
    suggestName(diag, option.nameLoc, name, {names.begin(), names.end()},
                "the inputs have the dimensions ");
  }
}

/// Checks that the data of the run provide every input of its model.
static void checkInputs(const CheckedRun &checked, DiagnosticEngine &diags) {
  for (const Input &input : checked.train.inputs)
    if (checked.run.readsArrays())
      checkArrayInput(checked, input, diags);
    else
      checkTokenInput(checked, input, diags);
  checkDataSizes(checked, diags);
}

/// Reports `metrics.training` if the model has no metrics.
static void checkMetrics(const CheckedRun &checked, DiagnosticEngine &diags) {
  const Option &option = checked.run.options.at("metrics.training");
  if (option.value.boolean() && checked.train.metrics.empty())
    diags
        .report(Code::OptionWithoutEffect, option.loc,
                "`metrics.training` has no effect: model `" + checked.train.name +
                    "` declares no metrics")
        .help("declare one: `metric accuracy = mean(..., over " + checked.run.dims.list() + ")`");
}

/// Reports rules about files of other software if the model has no such files.
static void checkFileRules(const CheckedRun &checked, DiagnosticEngine &diags) {
  for (const ParameterRule &rule : checked.run.rules) {
    const bool isCopy = rule.initFrom == "copy";
    if (!checked.weights && (isCopy || rule.isExported))
      diags
          .report(Code::OptionWithoutEffect, rule.loc,
                  std::string(isCopy ? "`init_from = copy`" : "`export`") +
                      " has no effect: no `weights` are declared for the model")
          .help("declare them: `weights \"hf\" for " + checked.modelName + " { ... }`");
  }
}

/// Notes a loss that was declared as a value, if there is one.
static void noteLossValue(Diagnostic &diag, const Model &model, const DataDims &dims) {
  auto isLoss = [](const ValueInfo &value) { return value.name == "loss"; };
  auto found = std::find_if(model.values.begin(), model.values.end(), isLoss);
  if (found == model.values.end())
    diag.help("add `loss = mean(..., over " + dims.list() + ")`");
  else
    diag.note(found->loc, "this `loss` is an ordinary value")
        .help("to minimise it write `loss = ...`, without `let`");
}

/// Chooses sizes for a model without data: one sample of one token, unless the model needs more (a
/// window of positions, a multiple of a block length).
void Checker::chooseSizes(CheckedRun &checked) {
  constexpr std::pair<int64_t, int64_t> sizes[] = {{1, 1},    {1, 16},  {1, 256},
                                                   {1, 4096}, {16, 16}, {256, 256}};
  Option &batch = checked.run.options.at("data.batch"), &seq = checked.run.options.at("data.seq");
  const Option givenBatch = batch, givenSeq = seq;
  auto use = [&](const std::pair<int64_t, int64_t> &size) {
    if (!givenBatch.loc.isValid())
      batch.value = Value::ofInt(size.first);
    if (!givenSeq.loc.isValid())
      seq.value = Value::ofInt(size.second);
  };
  // If no size fits, choose the one with the fewest size errors.
  auto isSizeError = [](const Diagnostic &diag) {
    return diag.code == Code::IndexOutOfRange || diag.code == Code::BadDimensionSize;
  };
  auto isTooLarge = [](const Diagnostic &diag) { return diag.code == Code::TooLarge; };
  size_t best = 0, fewest = SIZE_MAX;
  for (size_t i = 0; i < std::size(sizes); ++i) {
    use(sizes[i]);
    DiagnosticEngine trial(sources);
    Model model;
    if (specialise(checked, 0, model, trial))
      return;
    auto sizeErrors =
        static_cast<size_t>(std::count_if(trial.all().begin(), trial.all().end(), isSizeError));
    if (sizeErrors < fewest) {
      fewest = sizeErrors;
      best = i;
    }
    bool limitExceeded = std::any_of(trial.all().begin(), trial.all().end(), isTooLarge);
    if (limitExceeded || sizeErrors == 0)
      break;
  }
  use(sizes[best]);
}

std::optional<CheckedRun> Checker::checkRun(const Symbol &symbol) {
  bool isTrain = symbol.decl->is<TrainDecl>();
  std::optional<Run> run = isTrain ? resolveRun(symbol, overrides, library, diags)
                                   : defaultRun(symbol, overrides, library, diags);
  if (!run || !resolveDataDims(*run, isTrain, library, diags))
    return std::nullopt;
  CheckedRun checked;
  checked.run = std::move(*run);
  checked.modelName = getName(*checked.run.model.decl).text;
  std::optional<Mesh> mesh = resolveMesh(checked.run, library, diags);
  if (!isTrain)
    chooseSizes(checked);
  if (!adapt(checked) || !specialise(checked, 0, checked.train, diags, &checked.calledModels) ||
      !mesh)
    return std::nullopt;
  checked.mesh = std::move(*mesh);
  size_t errorsBefore = diags.errorReports();
  if (isTrain && !checked.train.loss)
    noteLossValue(diags
                      .report(Code::ModelWithoutLoss, checked.run.modelLoc,
                              "model `" + checked.train.name + "` has no loss to minimise")
                      .note(checked.train.loc, "declared here"),
                  checked.train, checked.run.dims);
  if (isTrain)
    checkInputs(checked, diags);
  checkMetrics(checked, diags);
  matchOverrides(checked.mesh, {&checked.train}, diags);
  resolvePipeline(checked.run, checked.mesh, checked.train, sources, diags);
  splitAxes(checked.mesh, checked.train);
  checkMesh(checked.mesh, checked.train, checked.run, diags);
  checkShardingOptions(checked.run, checked.mesh, diags);
  checkGroups(checked.run, checked.train, diags);
  checkGroupOptions(checked.run, checked.train, diags);
  checkEffects(checked.run, checked.train, library, diags);
  if (checked.train.loss)
    checkTurns(checked.run, checked.train,
               checked.mesh.pipeline ? checked.mesh.pipeline->dim : std::string(), diags);
  if (isTrain)
    checkRecompute(checked, diags);
  if (checked.train.loss)
    checked.updates = elaborateOptimizers(checked.run, checked.train, library, diags);
  if (isTrain)
    checked.schedule = elaborateSchedule(checked.run, library, diags);
  checked.groupSchedules = elaborateGroupSchedules(checked.run, checked.train, library, diags);
  if (isTrain && checked.train.loss) {
    warnUnused(checked);
    checkTrains(checked);
  }
  if (const std::vector<AppliedWeights> weights =
          findAllWeights(checked.run.model, checked.calledModels, *unit, library);
      !weights.empty())
    if ((checked.merge = elaborateMerges(weights, checked.train, checked.adapters, library, diags)))
      checked.weights =
          applyWeights(weights, checked.train, mergedParameters(*checked.merge), library, diags);
  if (checked.weights)
    addAdapterTensors(checked.adapters, checked.train, library, *checked.weights);
  if (diags.errorReports() == errorsBefore)
    checkFileRules(checked, diags);
  if (isTrain && diags.errorReports() == errorsBefore)
    checked.config = buildConfig(checked);
  if (diags.errorReports() != errorsBefore || !specialiseForInference(checked))
    return std::nullopt;
  warnMissedNames(checked, diags);
  return checked;
}

} // namespace titan::sema
