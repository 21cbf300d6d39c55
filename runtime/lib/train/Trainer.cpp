#include "Trainer.h"

#include "BatchReader.h"
#include "Checkpoint.h"
#include "Data.h"
#include "Evaluation.h"
#include "Profiler.h"
#include "Progress.h"
#include "Replicas.h"
#include "Reporter.h"
#include "RunDirectory.h"
#include "StopSignal.h"
#include "TensorFiles.h"

#include "titan/runtime/error.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <optional>
#include <vector>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

class Trainer {
public:
  Trainer(Session &session, const Options &options, const Settings &settings)
      : session(session), options(options), settings(settings), schedule(scheduleOf(settings)),
        directory(session, runDirectory(session.program(), options)),
        last(std::min(options.stopAt.value_or(schedule.steps), schedule.steps)),
        saveEvery(settings.integer("checkpoint.every", 0)),
        peakRate(settings.number("optimizer.lr", 1e-3)), progress(session, settings, last),
        report(session, directory.path(), last, schedule.steps), reader(session, "train"),
        profiler(session, directory.path(), options.profile) {}

  int run() {
    openSets();
    directory.check(std::vector{options.saveInitial, options.saveGradients});
    if (options.dryRun) {
      loadState();
      return ExitSuccess;
    }
    directory.open();
    try {
      loadState();                // what cannot be gone on from is left as it is
    } catch (const UserError &) { // of which all ranks know, each with its own words
      directory.removeNew();
      session.barrier("removing a run's directory"); // who ends first has a launcher end the others
      throw;
    } catch (const std::exception &) {
      directory.removeNew();
      throw;
    }
    beginFiles();
    report.status("running", step, ExitSuccess, "");
    catchStopSignals();
    try {
      session.prepare("train");
      return loop();
    } catch (const Fault &fault) {
      std::string message = fmt::format("{}; in step {}", fault.what(), step);
      reportFailure(message);
      throw Fault(message);
    } catch (const std::exception &error) {
      reportFailure(error.what());
      throw;
    }
  }

private:
  void openSets() {
    const std::string path = settings.text("data.path", "");
    session.world().together([&] {
      if (path.empty())
        throw UserError("there are no data to train on: pass --data FILE");
      data.emplace(openData(session.program(), settings.text("data.format", "text"), path, seed(),
                            /*shuffle=*/true));
    });
    if (canEvaluate(session) && settings.integer("eval.every", 0) > 0)
      evaluation.emplace(session, settings);
  }

  uint64_t seed() const { return static_cast<uint64_t>(settings.integer("seed", 0)); }

  /// What a user might not expect of files that are there.
  void explainBeginning() {
    if (saved < 0)
      if (std::string aside = setAside(directory.path()); !aside.empty())
        report.say("note: begins anew; weights and checkpoints of the run before are in '{}'",
                   aside);
    if (saved >= last)
      report.say("note: the checkpoint is of step {}, so nothing is left to train until step {}",
                 saved, last);
  }

  void beginFiles() {
    if (session.isFirst()) {
      explainBeginning();
      writeFileAtomically(directory.file("config.toml"), settings.toToml());
      writeFileAtomically(directory.file("program.titan"), session.program().source);
    }
    if (!options.saveInitial.empty())
      save(options.saveInitial, Role::Parameter);
    report.begin(step);
    if (schedule.warmup > schedule.steps)
      report.warn(
          "the learning rate rises over {} steps (`schedule.warmup`), but the run has {}: it "
          "stays below `optimizer.lr`",
          schedule.warmup, schedule.steps);
  }

  /// A checkpoint wins over --init-from, that over fresh values.
  void loadState() {
    if (std::optional<Manifest> found = resumeFrom(session, directory.path(), options.resume)) {
      if (!options.initFrom.empty())
        report.say("note: the checkpoint's weights are taken, not those of --init-from");
      continueFrom(*found);
    } else if (!options.initFrom.empty()) {
      loadWeights(session, options.initFrom);
    } else {
      initializeParameters(session, seed());
    }
  }

  void continueFrom(const Manifest &found) {
    session.world().together([&] {
      if (found.seed != seed())
        throw UserError(fmt::format("the checkpoint is of a run with seed {}, this one has seed "
                                    "{}: samples would come twice; pass --seed {}, or begin anew "
                                    "with --resume none",
                                    found.seed, seed(), found.seed));
    });
    if (found.samplesInEpoch != data->order().windows())
      report.say("note: the data have {} samples, and had {} when the checkpoint was saved; from "
                 "here on their order is another",
                 data->order().windows(), found.samplesInEpoch);
    step = saved = found.step;
    sample = found.sample;
  }

  int loop() {
    firstStep = step;
    progress.begin(step);
    while (step < last) {
      profiler.beforeStep();
      oneStep();
      int stop = session.greatest(stopSignal()); // that of a rank is for all
      bool evaluated = evaluation && (step % evaluation->every() == 0 || step == last);
      if (stop || evaluated || step % options.logEvery == 0 || step == firstStep + 1 ||
          step == last)
        profiler.during("metrics", [&] { log(evaluated); });
      if (stop && step < last)
        return stopped(stop);
      if (saveEvery > 0 && (step % saveEvery == 0 || step == last))
        saveRun();
    }
    profiler.finish();
    if (last < schedule.steps && step > firstStep)
      saveRun(); // --stop-at: to be continued
    compareReplicas();
    save(directory.file("model.safetensors"), Role::Parameter);
    report.status("finished", step, ExitSuccess, "");
    report.say("finished after step {} in {}; weights in {}", step,
               formatDuration(progress.seconds()), directory.file("model.safetensors"));
    return ExitSuccess;
  }

  void oneStep() {
    const Progress::Clock::time_point before = Progress::Clock::now();
    profiler.during("data", [&] { reader.load(*data, sample); });
    progress.addDataSeconds(std::chrono::duration<double>(Progress::Clock::now() - before).count());
    sample += session.program().batch;
    ++step;
    rate = peakRate * schedule.factor(step);
    session.writeScalar("lr", rate);
    session.writeScalar("step", static_cast<double>(step));
    session.writeScalar("seed", static_cast<double>(settings.integer("seed", 0)));
    profiler.during("step", [&] { session.run("train"); });
    if (step == firstStep + 1 && !options.saveGradients.empty())
      save(options.saveGradients, Role::Gradient);
  }

  void saveRun() {
    if (saved == step)
      return;
    compareReplicas();
    profiler.during("checkpoint", [&] {
      Manifest position{step, seed(), sample, data->order().windows(), session.program().name, {}};
      saveCheckpoint(session, directory.path(), position, settings.integer("checkpoint.keep", 0));
    });
    // What was the end is not any more, and would be taken for it.
    std::error_code absent;
    if (session.isFirst())
      fs::remove(directory.file("model.safetensors"), absent);
    saved = step;
  }

  void reportFailure(const std::string &message) {
    try {
      report.status("failed", step, ExitFault, message);
    } catch (const std::exception &) { // a full disk, perhaps; what it was is said all the same
    }
  }

  void compareReplicas() {
    if (options.checkReplicas)
      checkReplicas(session);
  }

  int stopped(int signal) {
    saveRun();
    std::string name = std::string("SIG") + sigabbrev_np(signal);
    report.status("stopped", step, ExitStoppedBySignal,
                  "by " + name + ", after saving a checkpoint");
    report.say("stopped by {} after step {}; the same command resumes", name, step);
    return ExitStoppedBySignal;
  }

  /// All ranks evaluate; the first one writes.
  void log(bool evaluated) {
    session.device().synchronize(); // what a device still computes is time of these steps
    const double seconds = progress.secondsSinceRow();
    // First, since an evaluation overwrites the step's outputs.
    MetricsRow row = progress.row(step, rate, seconds);
    std::optional<EvaluationResult> result;
    if (evaluated) {
      result = evaluation->run();
      row.evalLoss = result->loss;
      row.evalLosses = result->losses;
      row.time = progress.seconds();
    }
    if (session.isFirst())
      report.row(row, progress.secondsLeft(step), seconds, progress.dataSeconds());
    if (!warnedOfNan && !(std::isfinite(row.loss) && std::isfinite(row.gradNorm))) {
      warnedOfNan = true;
      report.warn(
          "the loss or its gradient is no finite number any more, at step {} at the latest: "
          "what is saved from here on is of no use; go on from an earlier checkpoint with a "
          "lower `optimizer.lr`, or with `clip`",
          step);
    }
    if (result)
      report.evaluation(step, *result);
    progress.endRow(step);
  }

  void save(const std::string &path, Role role) {
    Role roles[] = {role};
    saveTensors(session, path, roles, {{"format", "pt"}});
  }

  Session &session;
  const Options &options;
  const Settings &settings;
  Schedule schedule;
  RunDirectory directory;
  int64_t last;      // the step to end after
  int64_t saveEvery; // steps between checkpoints; 0: only when stopped
  double peakRate;
  Progress progress;
  Reporter report;
  BatchReader reader;
  Profiler profiler;
  std::optional<DataSource> data;
  std::optional<Evaluation> evaluation;

  int64_t step = 0, firstStep = 0; // done so far; done before this process began
  int64_t saved = -1;              // the step of the latest checkpoint
  int64_t sample = 0;              // the first that was not trained on
  double rate = 0;
  bool warnedOfNan = false;
};

} // namespace

std::string runDirectory(const Program &program, const Options &options) {
  return options.out.empty() ? "runs/" + program.name : options.out;
}

int train(Session &session, const Options &options, const Settings &settings) {
  return Trainer(session, options, settings).run();
}

} // namespace titan::rt
