#include "RunCheckpoints.h"

#include "StopSignal.h"

#include "base/files/DurableFile.h"

#include <chrono>
#include <filesystem>
#include <utility>

namespace titan::rt {

RunCheckpoints::RunCheckpoints(Executor &executor, const Settings &settings,
                               std::string runDirectory, Reporter &report, Profiler &profiler)
    : executor(executor), runDirectory(runDirectory), report(report), profiler(profiler),
      writer(executor, settings, std::move(runDirectory)) {}

void RunCheckpoints::waitForPrevious(int64_t step) {
  if (!writer.isSaving())
    return;
  const auto start = std::chrono::steady_clock::now();
  const int64_t previous = *begun;
  finish();
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
  if (!hasWaited)
    report.say("note: the checkpoint of step {} waited {:.1f} s for that of step {}; a larger "
               "`checkpoint.every` avoids this",
               step, waited.count(), previous);
  hasWaited = true;
}

void RunCheckpoints::begin(Manifest position) {
  enterStopPhase(StopPhase::Saving);
  begun = position.step;
  profiler.during("checkpoint", [&] {
    // A resumed run continues after the rows so far.
    asFault([&] { writer.begin(std::move(position), [this] { report.sync(); }); });
  });
  enterStopPhase(StopPhase::Running);
  noteEnd();
}

void RunCheckpoints::advance() {
  if (!writer.isSaving())
    return;
  asFault([&] { writer.advance(); });
  noteEnd();
}

void RunCheckpoints::finish() {
  if (!writer.isSaving())
    return;
  enterStopPhase(StopPhase::Saving);
  profiler.during("checkpoint", [&] { asFault([&] { writer.finish(); }); });
  enterStopPhase(StopPhase::Running);
  noteEnd();
}

void RunCheckpoints::finishAfterError() {
  if (executor.world().size() > 1)
    return;
  try {
    writer.finish();
  } catch (const std::exception &) { // perhaps the same error
  }
}

void RunCheckpoints::noteEnd() {
  if (!begun || writer.isSaving())
    return;
  // The final weights of an earlier end are no longer final.
  std::error_code absent;
  if (executor.isFirst())
    std::filesystem::remove(std::filesystem::path(runDirectory) / "model.safetensors", absent);
  if (requested == begun)
    report.say("saved step {}, as SIGUSR1 asks", *begun);
  begun.reset();
}

} // namespace titan::rt
