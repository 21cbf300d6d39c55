#include "Trainer.h"

#include "BatchReader.h"
#include "Checkpoint.h"
#include "Data.h"
#include "DirectoryLock.h"
#include "Evaluation.h"
#include "Outputs.h"
#include "Profiler.h"
#include "Replicas.h"
#include "Reporter.h"
#include "SetAside.h"
#include "StopSignal.h"
#include "TensorFiles.h"
#include "Verify.h"

#include "files/DurableFile.h"
#include "metrics/PublishedPeak.h"
#include "titan/runtime/error.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <optional>
#include <unistd.h>
#include <vector>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What is no number has no sign either.
double withoutSign(double value) {
  return std::isnan(value) ? std::abs(value) : value;
}

/// Of one rank's device, in TFLOP/s, where it is said or published.
std::optional<double> peakTflopsOf(Session &session, const Settings &settings) {
  if (double said = settings.number("metrics.peak_tflops", 0); said > 0)
    return said;
  return publishedPeakTflops(session.device().name(), settings.text("precision.compute", ""));
}

class Trainer {
public:
  Trainer(Session &session, const Options &options, const Settings &settings)
      : session(session), options(options), settings(settings), schedule(scheduleOf(settings)),
        directory(runDirectory(session.program(), options)),
        last(std::min(options.stopAt.value_or(schedule.steps), schedule.steps)),
        saveEvery(settings.integer("checkpoint.every", 0)),
        peakRate(settings.number("optimizer.lr", 1e-3)),
        peakTflops(peakTflopsOf(session, settings)),
        report(session, directory, last, schedule.steps), reader(session, "train"),
        profiler(session, directory, options.profile) {}

  int run() {
    openSets();
    checkOutputs(session, options, directory);
    if (options.dryRun) {
      loadState();
      return ExitSuccess;
    }
    openDirectory();
    try {
      loadState();                // what cannot be gone on from is left as it is
    } catch (const UserError &) { // of which all ranks know, each with its own words
      removeNewDirectories();
      session.barrier("removing a run's directory"); // who ends first has a launcher end the others
      throw;
    } catch (const std::exception &) {
      removeNewDirectories();
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

  void openDirectory() {
    session.world().together([&] {
      if (!session.isFirst())
        return;
      std::error_code ignored;
      for (fs::path folder = fs::absolute(directory); !fs::exists(folder, ignored);
           folder = folder.parent_path())
        newDirectories.push_back(folder); // the innermost first
      makeDirectory(directory, "the run's directory");
      lock.emplace(directory);
      removeUnfinishedCheckpoints(directory); // they may be what fills the disk
    });
  }

  /// What openDirectory() made is taken back where no run begins in it.
  void removeNewDirectories() {
    std::error_code ignored; // a folder that somebody has put something into stays
    if (!newDirectories.empty())
      fs::remove(file(".lock"), ignored); // while it is ours
    lock.reset();
    for (const fs::path &folder : newDirectories)
      fs::remove(folder, ignored);
  }

  /// What a user might not expect of files that are there.
  void explainBeginning() {
    if (saved < 0)
      if (std::string aside = setAsideRun(directory); !aside.empty())
        report.say("note: begins anew; weights and checkpoints of the run before are in '{}'",
                   aside);
    if (saved >= last)
      report.say("note: the checkpoint is of step {}, so nothing is left to train until step {}",
                 saved, last);
  }

  void beginFiles() {
    if (session.isFirst()) {
      explainBeginning();
      if (std::error_code absent; saved < 0) // before the settings beside them are others
        fs::remove(file("metrics.jsonl"), absent);
      writeFileAtomically(file("config.toml"), settings.toToml(), Sync::Content);
      writeFileAtomically(file("program.titan"), session.program().source, Sync::Content);
    }
    if (!options.saveInitial.empty())
      save(options.saveInitial, Role::Parameter);
    report.begin(step);
    if (session.isFirst())
      syncDirectory(directory);
    if (schedule.warmup > schedule.steps)
      report.warn(
          "the learning rate rises over {} steps (`schedule.warmup`), but the run has {}: it "
          "stays below `optimizer.lr`",
          schedule.warmup, schedule.steps);
  }

  /// A checkpoint wins over --init-from, that over fresh values.
  void loadState() {
    if (std::optional<Manifest> found = resumeFrom(session, directory, options.resume)) {
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
    begin = logged = Clock::now();
    loggedStep = firstStep = step;
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
    save(file("model.safetensors"), Role::Parameter);
    if (session.isFirst())
      report.weights(checksumOfWeights(directory));
    report.sync();
    report.status("finished", step, ExitSuccess, "");
    report.say("finished after step {} in {}; weights in {}", step,
               formatDuration(secondsSince(begin)), file("model.safetensors"));
    return ExitSuccess;
  }

  void oneStep() {
    Clock::time_point before = Clock::now();
    profiler.during("data", [&] { reader.load(*data, sample); });
    dataSeconds += secondsSince(before);
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
      report.sync(); // a run goes on behind these rows
      Manifest position{step,
                        seed(),
                        sample,
                        data->order().windows(),
                        session.program().name,
                        session.program().model,
                        {}};
      saveCheckpoint(session, directory, position, settings.integer("checkpoint.keep", 0));
    });
    // What was the end is not any more, and would be taken for it.
    std::error_code absent;
    if (session.isFirst())
      fs::remove(file("model.safetensors"), absent);
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
    double seconds = secondsSince(logged);
    // First, since an evaluation lies where the step's outputs do.
    MetricsRow row = makeRow(seconds);
    std::optional<EvaluationResult> result;
    if (evaluated) {
      result = evaluation->run();
      row.evalLoss = result->loss;
      row.evalLosses = result->losses;
      row.time = secondsSince(begin);
    }
    if (session.isFirst())
      report.row(row, secondsLeft(), seconds, dataSeconds);
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
    logged = Clock::now();
    loggedStep = step;
    dataSeconds = 0;
  }

  MetricsRow makeRow(double seconds) {
    const Program &program = session.program();
    MetricsRow row;
    row.step = step;
    row.loss = withoutSign(session.readScalar("loss", "train"));
    row.losses = session.readLosses("train");
    row.maxLoss = session.readGreatestSummand("own_loss", "train");
    row.gradNorm = withoutSign(session.readScalar("grad_norm", "train"));
    row.lr = rate;
    row.tokens = step * program.batch * program.seq;
    row.tokensPerSecond =
        static_cast<double>((step - loggedStep) * program.batch * program.seq) / seconds;
    row.tflops = row.tokensPerSecond * program.flopsPerToken * 1e-12;
    row.modelTflops = row.tokensPerSecond * program.modelFlopsPerToken * 1e-12;
    if (peakTflops)
      row.mfu = 100 * row.modelTflops / session.world().size() / *peakTflops;
    row.memoryBytes = session.device().peakMemoryBytes();
    row.time = secondsSince(begin);
    return row;
  }

  double secondsLeft() const {
    return secondsSince(begin) / static_cast<double>(step - firstStep) *
           static_cast<double>(last - step);
  }

  void save(const std::string &path, Role role) {
    Role roles[] = {role};
    saveTensors(session, path, roles, {{"format", "pt"}});
  }

  std::string file(const char *name) const { return (fs::path(directory) / name).string(); }

  Session &session;
  const Options &options;
  const Settings &settings;
  Schedule schedule;
  std::string directory;
  std::optional<DirectoryLock> lock;    // of rank 0
  std::vector<fs::path> newDirectories; // which rank 0 has made
  int64_t last;                         // the step to end after
  int64_t saveEvery;                    // steps between checkpoints; 0: only when stopped
  double peakRate;
  std::optional<double> peakTflops; // of one rank's device
  Reporter report;
  BatchReader reader;
  Profiler profiler;
  std::optional<DataSource> data;
  std::optional<Evaluation> evaluation;

  int64_t step = 0, firstStep = 0; // done so far; done before this process began
  int64_t saved = -1;              // the step of the latest checkpoint
  int64_t sample = 0;              // the first that was not trained on
  double rate = 0;
  Clock::time_point begin, logged;
  int64_t loggedStep = 0;
  double dataSeconds = 0; // since the last row
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
