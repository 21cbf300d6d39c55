#include "Profiler.h"

#include "base/files/DurableFile.h"

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

namespace titan::rt {

/// The first steps of a process are slower.
static constexpr int64_t skipped = 2;

void Profiler::beforeStep() {
  if (steps == 0)
    return;
  if (seen == skipped) {
    trace.emplace(executor.device(), executor.world().rank());
    executor.setTrace(&*trace);
  } else if (seen == skipped + steps) {
    finish();
  }
  ++seen;
}

void Profiler::finish() {
  if (steps > 0 && seen <= skipped && executor.isFirst())
    std::fprintf(stderr, "warning: there is no profile: profiles begin with the third step, and "
                         "the run had at most two steps\n");
  if (!trace)
    return;
  executor.setTrace(nullptr);
  std::filesystem::path folder = std::filesystem::path(runDirectory) / "profile";
  createDirectories(folder);
  trace->write((folder / fmt::format("rank-{}.json", executor.world().rank())).string());
  trace.reset();
  if (executor.isFirst())
    std::printf("profile in %s\n", folder.c_str());
}

} // namespace titan::rt
