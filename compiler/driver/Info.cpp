// `titanc info`: reports parameters, memory, arithmetic and communication of a run.
#include "base/Error.h"
#include "base/prediction/StepProgramJson.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/MachineSelection.h"
#include "compiler/driver/Output.h"
#include "compiler/driver/RunSummary.h"
#include "compiler/sema/modules/Suggest.h"

namespace titan::driver {

std::string makePublicName(const sema::Parameter &parameter) {
  std::string name;
  size_t repeat = 0;
  int64_t number = 0;
  for (llvm::StringRef rest = parameter.name; !rest.empty(); ++number) {
    auto [segment, tail] = rest.split('.');
    name += (name.empty() ? "" : ".") + segment.str();
    if (repeat < parameter.repeats.size() && parameter.repeatSegments[repeat] == number) {
      name += ".{l}";
      ++repeat;
    }
    rest = tail;
  }
  return name;
}

std::vector<std::pair<const sema::Dim *, int64_t>> findPaddedDims(const sema::CheckedRun &run) {
  std::vector<std::pair<const sema::Dim *, int64_t>> found;
  for (sema::DimId id = 0; id < run.train.dims.size(); ++id) {
    const sema::Dim &dim = run.train.dims[id];
    if (int64_t size = sema::paddedSize(run.mesh.axes, dim.name, dim.size); size != dim.size)
      found.push_back({&dim, size});
  }
  return found;
}

/// Predicts the time of a step. False after an error.
static bool addPrediction(CompilerInstance &instance, const std::string &name,
                          RunSummary &summary) {
  std::optional<Machine> machine = loadMachine(instance, name);
  if (!machine)
    return false;
  try {
    Prediction &prediction = summary.prediction.emplace();
    prediction.machine = std::move(*machine);
    prediction.time = predictStep(summary.step, prediction.machine);
    prediction.memory = getMemoryOfRank(summary.step, prediction.machine);
    prediction.utilisation =
        getUtilisation(summary.step, prediction.time.seconds, prediction.machine);
    return true;
  } catch (const UserError &error) {
    instance.diags.report(Code::BadMachine, Location(), error.what());
    return false;
  }
}

/// False after an error.
static bool writeStep(CompilerInstance &instance, const std::string &file,
                      const RunSummary &summary) {
  if (std::error_code error = writeOutput(writeStepProgram(summary.step), file)) {
    reportWriteError(instance.diags, file, error);
    return false;
  }
  return true;
}

int infoCommand(const CommonOptions &options, const InfoOptions &info) {
  if (info.options && options.file.empty()) {
    printOptions(nullptr, options.json);
    return 0;
  }
  CompilerInstance instance(options);
  std::optional<sema::CheckedRun> run = instance.check();
  if (info.options) {
    if (run)
      printOptions(&*run, options.json);
    return instance.finish(run ? 0 : 1);
  }
  std::optional<RunSummary> summary;
  if (run)
    summary = makeRunSummary(instance, *run, info.processes, info.threads, info.target);
  if (!summary)
    return instance.finish(1);
  if ((!info.machine.empty() && !addPrediction(instance, info.machine, *summary)) ||
      (!info.stepProgram.empty() && !writeStep(instance, info.stepProgram, *summary)))
    return instance.finish(1);
  options.json ? printJson(*run, *summary, info.groups) : printText(*run, *summary, info.groups);
  if (info.byLine && !options.json)
    printLines(llvm::outs(), *summary, instance.sources);
  std::vector<std::string> models = instance.candidateModels();
  if (!options.json && options.model.empty() && options.train.empty() && models.size() > 1)
    llvm::outs() << "\n`--model NAME` looks at another model: " << sema::listNames(models) << '\n';
  return instance.finish(0);
}

} // namespace titan::driver
