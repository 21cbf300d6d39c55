#include "Trainer.h"

#include "BestWeights.h"
#include "CostReport.h"
#include "Epochs.h"
#include "Evaluation.h"
#include "FiniteCheck.h"
#include "NonFiniteCause.h"
#include "Profiler.h"
#include "Progress.h"
#include "Replicas.h"
#include "Reporter.h"
#include "Requests.h"
#include "RunCheckpoints.h"
#include "StepTimes.h"
#include "StopSignal.h"
#include "TrainStep.h"
#include "checkpoint/Checkpoint.h"
#include "checkpoint/Verify.h"
#include "data/BackgroundReader.h"
#include "data/Data.h"
#include "data/Inputs.h"
#include "rundir/Archive.h"
#include "rundir/Outputs.h"
#include "rundir/RunDirectory.h"
#include "settings/LearningRate.h"
#include "state/TensorFiles.h"
#include "weights/SourceFiles.h"
#include "weights/TokenizerFiles.h"

#include "base/Error.h"
#include "base/files/DurableFile.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

/// A training run: its data, its state between steps, and its files.
class Trainer {
public:
  Trainer(Executor &executor, const Options &options, const Settings &settings)
      : executor(executor), options(options), settings(settings),
        learningRate(executor.program().schedule, settings), steps(settings.integer("steps", 100)),
        directory(executor, runDirectory(executor.program(), options)),
        last(std::min(options.stopAt.value_or(steps), steps)),
        saveEvery(settings.integer("checkpoint.every", 0)), trainStep(executor),
        progress(executor, trainStep, settings, last),
        report(executor, directory.path(), last, steps),
        profiler(executor, directory.path(), options.profile),
        costs(executor, directory.path(), options.costs),
        check(executor, trainStep, settings, directory.path()),
        best(executor, settings, directory.path()), stepTimes(executor),
        checkpoints(executor, settings, directory.path(), report, profiler) {
    for (const GroupSchedule &group : executor.program().groupSchedules)
      groupRates.emplace_back(group.scalar, LearningRate(group.schedule, settings));
  }

  int run() {
    openSets();
    checkOutputs(executor, options, directory.path());
    if (options.dryRun) {
      loadState();
      return ExitSuccess;
    }
    directory.open();
    try {
      loadState();                // a directory that cannot be resumed stays unchanged
    } catch (const UserError &) { // all ranks know of it, each with its own message
      directory.removeNew();
      executor.barrier(
          "removing a run's directory"); // the launcher ends the others when the first rank exits
      throw;
    } catch (const std::exception &) {
      directory.removeNew();
      throw;
    }
    beginFiles();
    report.writeStatus({.step = step});
    try {
      trainStep.prepare();
      startRecording();
      const int status = loop();
      executor.stopRecording();
      return status;
    } catch (const NotFinite &error) {
      executor.recordFailure();
      report.writeStatus({"nonfinite", step, ExitNotFinite, error.what()});
      throw;
    } catch (const UserError &error) {
      executor.recordFailure();
      checkpoints.finishAfterError();
      report.writeStatus({"failed", step, ExitUserError, error.what()});
      throw;
    } catch (const std::exception &error) {
      executor.recordFailure();
      checkpoints.finishAfterError();
      const std::string message = fmt::format("{}; in step {}", error.what(), step);
      report.writeStatus({"failed", step, ExitFault, message});
      const auto *fault = dynamic_cast<const Fault *>(&error);
      throw fault ? Fault(message, fault->peer) : Fault(message);
    }
  }

private:
  /// A run needs no record: a full disk is no reason to stop before a checkpoint is due.
  void startRecording() {
    try {
      executor.startRecording(directory.path());
    } catch (const std::exception &error) {
      report.warn("there will be no record of what rank {} did last: {}", executor.world().rank(),
                  error.what());
    }
  }

  void openSets() {
    const DataSettings from = getTrainingSettings(settings);
    executor.world().runCollectively([&] {
      requireData(settings);
      data.emplace(openTrainingData(executor.program(), trainStep.inputs(), from, seed()));
      if (executor.isFirst()) {
        checkTokenizer(chooseTokenizer(options));
        sourceFiles = findSourceFiles(executor.program().config, options.initFrom);
        identity = identifyInputs(options, settings);
      }
    });
    for (const std::string &file : unreadWeights(trainStep.inputs(), from))
      report.warn("the model has no input `weights`, so all labels count, including those that "
                  "'{}' excludes; {}",
                  file, inputRemedy(executor.program(), {"weights"}));
    if (mixesDocuments(executor.program(), trainStep.inputs(), from))
      report.warn("documents are packed into samples, but the model has no input `documents`, so "
                  "positions attend to earlier documents of their sample; {}",
                  inputRemedy(executor.program(), {"documents"}));
    if (!canEvaluate(executor) || settings.integer("eval.every", 0) == 0)
      return;
    if (getEvaluationSettings(settings).path.empty())
      report.say("note: nothing is evaluated: pass --eval-data FILE");
    else
      evaluation.emplace(executor, settings);
  }

  uint64_t seed() const { return static_cast<uint64_t>(settings.integer("seed", 0)); }

  /// Explains unexpected effects of existing files.
  void explainExistingFiles() {
    if (saved < 0)
      if (std::string archive = archiveRun(directory.path()); !archive.empty())
        report.say("note: starting over; weights and checkpoints of the previous run are in '{}'",
                   archive);
    if (saved >= last)
      report.say("note: the checkpoint is of step {}, so no steps are left until step {}", saved,
                 last);
  }

  /// Writes the files that describe the run, and opens those of its reports.
  void beginFiles() {
    if (executor.isFirst()) {
      explainExistingFiles();
      if (std::error_code absent; saved < 0) // before the settings beside them change
        for (const char *name : {"metrics.jsonl", "weights.tsv"})
          fs::remove(directory.file(name), absent);
      if (!weightRows.empty())
        writeFileAtomically(directory.file("weights.tsv"), toText(weightRows), Sync::Content);
      writeFileAtomically(directory.file("config.toml"), settings.toToml(), Sync::Content);
      writeFileAtomically(directory.file("program.titan"), executor.program().source,
                          Sync::Content);
    }
    if (executor.isFirst()) {
      writeTokenizer();
      keepSourceFiles(sourceFiles, directory.path(),
                      saved < 0 ? Existing::Replace : Existing::Keep);
    }
    if (!options.saveInitial.empty())
      save(options.saveInitial, Role::Parameter);
    report.begin(step);
    if (executor.isFirst())
      syncDirectory(directory.path());
    const double final = learningRate.at(steps, steps);
    if (final < learningRate.peak() && final < learningRate.at(steps + 1, steps))
      report.warn("the schedule still raises the learning rate in the last step {}, to {:.3g} of "
                  "the peak {:.3g} (`optimizer.lr`)",
                  steps, final, learningRate.peak());
  }

  /// A run that continues keeps its own tokenizer.
  void writeTokenizer() {
    const std::string tokenizer = chooseTokenizer(options);
    if (saved < 0)
      replaceTokenizer(tokenizer, directory.path());
    else
      copyTokenizer(tokenizer, directory.path(), Existing::Keep);
  }

  /// Precedence: checkpoint, --init-from, initial values.
  void loadState() {
    if (std::optional<Manifest> found = resumeFrom(executor, directory.path(), options.resume)) {
      if (!options.initFrom.empty())
        report.say("note: the weights come from the checkpoint, not from --init-from");
      continueFrom(*found);
    } else if (!options.initFrom.empty()) {
      const LoadedWeights loaded = loadWeights(executor, options.initFrom, seed());
      printSummary(executor, loaded);
      weightRows = loaded.rows;
    } else {
      initializeParameters(executor, seed());
    }
  }

  void continueFrom(const Manifest &found) {
    executor.world().runCollectively([&] {
      if (found.seed != seed())
        throw UserError(
            fmt::format("the checkpoint has seed {}, but this run has seed {} and would repeat "
                        "samples; pass --seed {}, or start over with --resume none",
                        found.seed, seed(), found.seed));
      if (executor.isFirst())
        expectSameTokenizer(found.identity, identity, directory.path());
    });
    if (const std::string others = describeOtherInputs(found.identity, identity); !others.empty())
      report.warn("the checkpoint was trained on other inputs: {}. If the data differ, samples may "
                  "come again, and others never",
                  others);
    if (found.samplesInEpoch != data->samples())
      report.say("note: the data have {} samples, but had {} when the checkpoint was saved; the "
                 "order of samples changes",
                 data->samples(), found.samplesInEpoch);
    explainSchedule(found);
    step = saved = found.step;
    check.begin(step, found.isFinite);
    sample = found.sample;
  }

  /// Explains a schedule whose end has moved.
  void explainSchedule(const Manifest &found) {
    const int64_t previousEnd = found.horizon, next = found.step + 1;
    auto isMoved = [&](int64_t step) {
      return learningRate.at(step, steps) != learningRate.at(step, previousEnd);
    };
    int64_t moved = next;
    while (previousEnd != 0 && moved <= std::max(previousEnd, steps) && !isMoved(moved))
      ++moved;
    if (previousEnd == 0 || moved > std::max(previousEnd, steps))
      return;
    std::string instead;
    if (next <= previousEnd && next <= steps)
      instead = fmt::format("; the learning rate of step {} is {:.3g} instead of {:.3g}", next,
                            learningRate.at(next, steps), learningRate.at(next, previousEnd));
    report.say(
        "note: the schedule ends at step {}, but ended at {} when the checkpoint was saved{}",
        steps, previousEnd, instead);
    if (next > previousEnd && next <= steps)
      warnOfJump(learningRate.at(found.step, previousEnd), next);
  }

  /// Warns if a run that had finished continues at a higher rate than that of its last step.
  void warnOfJump(double finalRate, int64_t next) {
    const double rate = learningRate.at(next, steps);
    if (rate > finalRate)
      report.warn("the schedule had ended at the learning rate {:.3g}, which jumps back to {:.3g} "
                  "in step {}; for a new schedule from these weights, start a new run: "
                  "--init-from {} --out ANOTHER",
                  finalRate, rate, next, directory.path());
  }

  int loop() {
    firstStep = step;
    batches.emplace(trainStep.makeBatch(), trainStep.makeBatch(),
                    [this](int64_t first, Batch &batch) { trainStep.read(*data, first, batch); });
    progress.begin(step);
    enterStopPhase(StopPhase::Running);
    if (int stop = agreeOnStop(executor); stop && step < last)
      return stopRun(stop);
    while (step < last) {
      const Progress::Clock::time_point begin = Progress::Clock::now();
      profiler.beforeStep();
      stepTimes.beginStep();
      trainOneStep();
      stepTimes.endStep();
      Requests requests = agreeAfterStep();
      if (requests.isReady)
        checkpoints.advance();
      noteStep(secondsSince(begin));
      report.stepEnded(step);
      const bool evaluates = evaluation && (step % evaluation->every() == 0 || step == last);
      if (requests.stop || requests.save || evaluates || check.isUnreported(step) ||
          step % options.logEvery == 0 || step == firstStep + 1 || step == last)
        profiler.during("metrics", [&] { reportStep(evaluates, requests.stop); });
      if (requests.stop && step < last)
        return stopRun(requests.stop);
      if (requests.save || (saveEvery > 0 && (step % saveEvery == 0 || step == last)))
        if (int stop = saveBetweenSteps(requests.save); stop && step < last)
          return stopRun(stop);
    }
    profiler.finish();
    costs.write();
    return finishRun();
  }

  int finishRun() {
    if (last < steps && step > firstStep)
      saveRun(); // --stop-at: the run will continue
    checkpoints.finish();
    compareReplicas();
    enterStopPhase(StopPhase::Saving);
    const std::string weights = directory.file("model.safetensors");
    asFault([&] {
      save(weights, Role::Parameter);
      if (executor.isFirst())
        report.setWeights(computeWeightsChecksum(directory.path()));
      report.sync();
    });
    report.writeStatus({"finished", step, ExitSuccess, ""});
    reportUsage();
    report.say("finished after step {} in {}; weights in {}", step,
               formatDuration(progress.seconds()), weights);
    return ExitSuccess;
  }

  /// How much of each data set of a mixture was read.
  void reportUsage() {
    const std::vector<DataSource::Usage> all = data->usageBefore(sample);
    if (all.size() > 1)
      for (const auto &[path, samples, epochs] : all)
        report.say("{}: {} samples, {:.2f} epochs", path, samples, epochs);
  }

  /// Saves a checkpoint, and returns the stop signal that any rank has received, or 0.
  int saveBetweenSteps(bool isRequested) {
    if (isRequested)
      checkpoints.setRequested(step);
    saveRun();
    return agreeOnStop(executor);
  }

  /// The requests of all ranks, with whether the loss is finite if that is known without waiting
  /// for a device.
  Requests agreeAfterStep() {
    const bool isReady = checkpoints.isReady();
    if (!executor.device().isHost())
      return agreeOnRequests(executor, true, isReady);
    const Requests all = agreeOnRequests(executor, check.readsFinite(), isReady);
    check.setResult(step, all.isFinite);
    return all;
  }

  /// The first sample of the step after this one, if there is such a step.
  std::optional<int64_t> nextSample() const {
    return step + 1 < last ? std::optional(sample + executor.program().samples) : std::nullopt;
  }

  /// Counts the time of `work` as that of data.
  template <typename Work> void timeData(Work work) {
    const Progress::Clock::time_point begin = Progress::Clock::now();
    profiler.during("data", work);
    progress.addDataSeconds(secondsSince(begin));
  }

  void trainOneStep() {
    runStep();
    costs.stepEnded();
    saveGradients();
  }

  void runStep() {
    const Batch *batch = nullptr;
    timeData([&] {
      batch = &batches->take(sample, nextSample());
      trainStep.begin(step + 1);
      if (trainStep.isLeft())
        trainStep.load(*batch);
    });
    ++step;
    rate = learningRate.at(step, steps);
    executor.writeScalar("lr", rate);
    for (auto &[scalar, groupRate] : groupRates)
      executor.writeScalar(scalar, groupRate.at(step, steps));
    executor.writeScalar("step", static_cast<double>(step));
    executor.writeScalar("seed", static_cast<double>(settings.integer("seed", 0)));
    if (step == firstStep + 1 && !options.saveGradients.empty())
      executor.keepGradients(true);
    while (trainStep.isLeft()) {
      executor.recordStep(step);
      profiler.during("step", [&] { costs.during([&] { trainStep.run(); }); });
      if (trainStep.isLeft()) // another turn
        timeData([&] { trainStep.load(*batch); });
    }
    sample += executor.program().samples;
  }

  /// Reports the step just run, which is not finite, with its cause.
  void handleNonFinite() {
    NonFiniteCause cause;
    if (settings.text("check_numbers", "false") != "true")
      cause.help = describeSearch(executor, options, directory.path());
    else if (check.isUnreported(step))
      cause.found = findCause();
    check.handleNonFinite(step, report, cause);
  }

  /// Runs the step just run again. Its state is unchanged if the program skips the update;
  /// otherwise, the steps before it run again, too, from the state from which they ran.
  std::string findCause() {
    const int64_t failed = step;
    const bool isUnchanged = check.skipsUpdates() && executor.program().turns.empty();
    if (isUnchanged)
      goBackTo(step - 1, sample - executor.program().samples);
    else
      restoreEarlierState();
    if (step + 1 < failed)
      report.say(
          "note: running steps {} to {} again, since the update of step {} has replaced what "
          "it started from; with `on_nonfinite = skip` only one step would run again",
          step + 1, failed, failed);
    while (step + 1 < failed)
      runStep();
    return findNonFiniteCause(executor, trainStep, batches->take(sample, std::nullopt),
                              [this] { runStep(); });
  }

  void goBackTo(int64_t earlierStep, int64_t earlierSample) {
    step = earlierStep;
    sample = earlierSample;
  }

  /// Loads the latest checkpoint, or what the run started from.
  void restoreEarlierState() {
    checkpoints.finish();
    const bool hasSaved = saved > firstStep;
    if (std::optional<Manifest> found =
            resumeFrom(executor, directory.path(), hasSaved ? "auto" : options.resume))
      return goBackTo(found->step, found->sample);
    clearState(executor);
    if (options.initFrom.empty())
      initializeParameters(executor, seed());
    else
      loadWeights(executor, options.initFrom, seed());
    goBackTo(0, 0);
  }

  /// Saves the gradients of each turn's latest step, as soon as all turns have run.
  void saveGradients() {
    if (options.saveGradients.empty() || savedGradients || !trainStep.hasRunAll())
      return;
    save(options.saveGradients, Role::Gradient);
    executor.keepGradients(false);
    savedGradients = true;
  }

  void saveRun() {
    if (saved == step)
      return;
    checkpoints.waitForPrevious(step);
    if (check.endsRun(step))
      handleNonFinite();
    compareReplicas();
    Manifest position;
    position.step = step;
    position.seed = seed();
    position.sample = sample;
    position.samplesInEpoch = data->samples();
    position.run = executor.program().name;
    position.model = executor.program().model;
    position.isFinite = check.isFinite(step);
    position.horizon = steps;
    position.identity = identity;
    saved = step;
    checkpoints.begin(std::move(position));
  }

  void compareReplicas() {
    if (options.checkReplicas)
      checkReplicas(executor);
  }

  int stopRun(int signal) {
    saveRun();
    checkpoints.finish();
    const std::string name = signalName(signal);
    report.writeStatus(
        {"stopped", step, ExitStoppedBySignal, "by " + name + ", after saving a checkpoint"});
    report.say("stopped by {} after step {}; the same command resumes", name, step);
    return ExitStoppedBySignal;
  }

  /// Writes the row of the step on rank 0. Before that, all ranks evaluate if `evaluates`, unless
  /// there is a stop signal. `stop` is that signal, or 0; it may arrive during the evaluation.
  void reportStep(bool evaluates, int &stop) {
    executor.device().synchronize(); // include the device time of these steps
    const double seconds = progress.secondsSinceRow();
    // Before an evaluation overwrites the step's outputs.
    MetricsRow row = progress.makeRow(step, rate, seconds);
    const bool ends = check.endsRun(step);
    if (ends)
      checkpoints.finish(); // the message names it
    std::optional<std::vector<EvaluationResult>> results;
    if (evaluates && !stop && !ends)
      results = evaluation->run([&] { return (stop = agreeOnStop(executor)) != 0; });
    if (results) {
      for (const EvaluationResult &result : *results)
        row.evaluations.push_back(result.numbers);
      row.time = progress.seconds();
    } else if (evaluates && stop && step == last) {
      report.say("note: the last evaluation is skipped because of {}", signalName(stop));
    }
    if (executor.isFirst())
      asFault([&] {
        report.writeRow(row, progress.secondsLeft(step), seconds, progress.dataSeconds());
      });
    if (!check.isFinite(step))
      handleNonFinite();
    if (results)
      for (const EvaluationResult &result : *results)
        report.writeEvaluation(step, result);
    bool isBest = false;
    if (results)
      asFault([&] { isBest = best.offer(step, row.evaluations); });
    if (isBest)
      report.say("step {}: the best evaluation so far; weights in {}", step,
                 directory.file(bestWeightsName));
    progress.endRow(step);
    if (const std::string slow = stepTimes.findSlowRank(step); !slow.empty())
      report.say("note: {}", slow);
  }

  void save(const std::string &path, Role role) {
    Role roles[] = {role};
    saveTensors(executor, path, roles, {{"format", "pt"}});
  }

  Executor &executor;
  const Options &options;
  const Settings &settings;
  LearningRate learningRate;
  std::vector<std::pair<std::string, LearningRate>> groupRates; // by their scalars
  int64_t steps;                                                // of the schedule
  RunDirectory directory;
  int64_t last;      // the final step
  int64_t saveEvery; // steps between checkpoints; 0: only when stopped
  TrainStep trainStep;
  Progress progress;
  Reporter report;
  Profiler profiler;
  CostReport costs;
  FiniteCheck check;
  BestWeights best;
  StepTimes stepTimes;
  RunCheckpoints checkpoints;        // after `report`, which its thread syncs
  std::vector<WeightRow> weightRows; // of --init-from
  Identity identity;                 // of the inputs, on rank 0
  SourceFiles sourceFiles;           // on rank 0
  std::optional<DataSource> data;
  std::optional<Evaluation> evaluation;
  std::optional<BackgroundReader> batches; // of `data` for `trainStep`, read one step ahead

  int64_t step = 0, firstStep = 0; // completed; completed before this process started
  int64_t saved = -1;              // the step of the latest checkpoint, complete or begun
  int64_t sample = 0;              // the first that was not trained on
  double rate = 0;
  bool savedGradients = false;
};

} // namespace

std::string runDirectory(const Program &program, const Options &options) {
  return options.out.empty() ? "runs/" + program.name : options.out;
}

int train(Executor &executor, const Options &options, const Settings &settings) {
  if (options.epochs == 0)
    return Trainer(executor, options, settings).run();
  const Settings withSteps = countSteps(executor, options, settings);
  return Trainer(executor, options, withSteps).run();
}

} // namespace titan::rt
