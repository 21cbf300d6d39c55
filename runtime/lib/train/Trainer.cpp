#include "Trainer.h"

#include "Checkpoint.h"
#include "StopSignal.h"
#include "TensorFiles.h"

#include "titan/runtime/error.h"
#include "titan/runtime/metrics.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

namespace titan::rt {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Token ids that the model has no row for would read foreign memory: refuse them before training.
void checkVocabulary(const TokenStream &stream, const std::string &path, int64_t vocabulary) {
  if (stream.vocabulary() <= vocabulary)
    return;
  std::vector<int64_t> part(1 << 16);
  for (int64_t at = 0; at < stream.size(); at += static_cast<int64_t>(part.size())) {
    int64_t count = std::min<int64_t>(part.size(), stream.size() - at);
    stream.read(at, count, part.data());
    for (int64_t i = 0; i < count; ++i)
      if (part[i] >= vocabulary)
        throw UserError(fmt::format("'{}' holds the token {} at position {}, but the model's "
                                    "vocabulary has {} tokens",
                                    path, part[i], at + i, vocabulary));
  }
}

class Trainer {
public:
  Trainer(Session &session, const Options &options, const Settings &settings)
      : session(session), options(options), settings(settings), schedule(scheduleOf(settings)),
        directory(runDirectory(session.program(), options)),
        last(std::min(options.stopAt.value_or(schedule.steps), schedule.steps)) {}

  int run() {
    openData();
    prepareDirectory();
    loadState();
    status("running", ExitSuccess, "");
    catchStopSignals();
    try {
      return loop();
    } catch (const std::exception &error) {
      status("failed", ExitFault, error.what());
      throw;
    }
  }

private:
  void openData() {
    std::string path = options.data.empty() ? settings.text("data.path", "") : options.data;
    if (path.empty())
      throw UserError("there are no data to train on: pass --data FILE");
    auto stream = openTextBytes(path);
    checkVocabulary(*stream, path, session.program().vocab);
    data.emplace(std::move(stream), path, session.program().seq, session.program().batch, seed());
  }

  uint64_t seed() const { return static_cast<uint64_t>(settings.integer("seed", 0)); }

  void prepareDirectory() {
    if (session.isFirst()) {
      fs::create_directories(directory);
      writeFileAtomically(file("config.toml"), settings.toToml());
      writeFileAtomically(file("program.titan"), session.program().source);
    }
    session.barrier("creating the run's directory");
  }

  /// A checkpoint wins over --init-from, that over fresh values.
  void loadState() {
    std::string checkpoint = findCheckpoint(directory, options.resume);
    if (!checkpoint.empty()) {
      step = loadCheckpoint(session, checkpoint);
      say("resuming after step {} from {}", step, checkpoint);
    } else if (!options.initFrom.empty()) {
      constexpr Role parameters[] = {Role::Parameter};
      loadTensors(session, options.initFrom, parameters);
    } else {
      initializeParameters(session, seed());
    }
    if (!options.saveInitial.empty())
      save(options.saveInitial, Role::Parameter);
    if (session.isFirst())
      metrics.emplace(file("metrics.jsonl"), session.program().dtype == DType::F64 ? 17 : 9, step);
  }

  int loop() {
    begin = logged = Clock::now();
    loggedStep = firstStep = step;
    while (step < last) {
      oneStep();
      bool stop = session.anyRank(stopSignal() != 0);
      if (stop || step % options.logEvery == 0 || step == firstStep + 1 || step == last)
        log();
      if (stop && step < last)
        return stopped();
    }
    save(file("model.safetensors"), Role::Parameter);
    status("finished", ExitSuccess, "");
    say("finished after step {} in {}; weights in {}", step, formatDuration(secondsSince(begin)),
        file("model.safetensors"));
    return ExitSuccess;
  }

  void oneStep() {
    session.loadBatch(*data, step);
    ++step;
    rate = settings.number("optimizer.lr", 1e-3) * schedule.factor(step);
    session.writeScalar("lr", rate);
    session.writeScalar("step", static_cast<double>(step));
    session.writeScalar("seed", static_cast<double>(settings.integer("seed", 0)));
    session.run("train");
    if (step == firstStep + 1 && !options.saveGradients.empty())
      save(options.saveGradients, Role::Gradient);
  }

  int stopped() {
    saveCheckpoint(session, directory, step);
    std::string signal = stopSignal() == SIGINT ? "SIGINT" : "SIGTERM";
    status("stopped", ExitStoppedBySignal, "by " + signal + ", after saving a checkpoint");
    say("stopped by {} after step {}; the same command resumes", signal, step);
    return ExitStoppedBySignal;
  }

  void log() {
    if (!session.isFirst())
      return;
    const Program &program = session.program();
    MetricsRow row;
    row.step = step;
    row.loss = session.readScalar("loss", "train");
    row.gradNorm = session.readScalar("grad_norm", "train");
    row.lr = rate;
    row.tokens = step * program.batch * program.seq;
    double seconds = secondsSince(logged);
    row.tokensPerSecond =
        static_cast<double>((step - loggedStep) * program.batch * program.seq) / seconds;
    row.tflops = row.tokensPerSecond * program.flopsPerToken * 1e-12;
    row.memoryBytes = session.device().peakMemoryBytes();
    row.time = secondsSince(begin);
    logged = Clock::now();
    loggedStep = step;
    metrics->append(row);
    double left =
        row.time / static_cast<double>(step - firstStep) * static_cast<double>(last - step);
    std::printf("%s\n", toLine(row, last, left, wantsColor()).c_str());
    std::fflush(stdout);
    status("running", ExitSuccess, "");
  }

  void save(const std::string &path, Role role) {
    Role roles[] = {role};
    saveTensors(session, path, roles, {{"format", "pt"}});
  }

  void status(const char *state, int exitStatus, const std::string &message) {
    if (session.isFirst())
      writeStatus(file("status.json"), {state, step, schedule.steps, exitStatus, message});
  }

  template <typename... Args> void say(fmt::format_string<Args...> format, Args &&...args) {
    if (!session.isFirst())
      return;
    std::printf("%s\n", fmt::format(format, std::forward<Args>(args)...).c_str());
    std::fflush(stdout);
  }

  std::string file(const char *name) const { return (fs::path(directory) / name).string(); }

  Session &session;
  const Options &options;
  const Settings &settings;
  Schedule schedule;
  std::string directory;
  int64_t last; // the step to end after
  std::optional<DataSource> data;
  std::optional<MetricsFile> metrics; // on rank 0

  int64_t step = 0, firstStep = 0; // done so far; done before this process began
  double rate = 0;
  Clock::time_point begin, logged;
  int64_t loggedStep = 0;
};

} // namespace

std::string runDirectory(const Program &program, const Options &options) {
  return options.out.empty() ? "runs/" + program.name : options.out;
}

int train(Session &session, const Options &options, const Settings &settings) {
  return Trainer(session, options, settings).run();
}

} // namespace titan::rt
