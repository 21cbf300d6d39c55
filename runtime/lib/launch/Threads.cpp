// The cores and the number of OpenMP threads of a rank (Launch.h).
#include "Launch.h"
#include "base/Error.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <sched.h>
#include <unistd.h>

namespace titan::rt {

CoreSet ownCores() {
  CoreSet own;
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  own.machine = std::hash<std::string>()(host);
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  for (size_t core = 0; core < 64 * own.cores.size(); ++core)
    if (CPU_ISSET(core, &set))
      own.cores[core / 64] |= uint64_t{1} << core % 64;
  return own;
}

int fairShare(std::span<const CoreSet> ranks, int rank) {
  const CoreSet &own = ranks[static_cast<size_t>(rank)];
  auto has = [](const CoreSet &set, size_t core) { return set.cores[core / 64] >> core % 64 & 1; };
  double share = 0;
  for (size_t core = 0; core < 64 * own.cores.size(); ++core) {
    if (!has(own, core))
      continue;
    auto users = std::count_if(ranks.begin(), ranks.end(), [&](const CoreSet &other) {
      return other.machine == own.machine && has(other, core);
    });
    share += 1.0 / static_cast<double>(users);
  }
  return std::max(1, static_cast<int>(std::floor(share + 1e-9)));
}

namespace {

[[noreturn]] void refuseThreads(const char *variable, const std::string &value) {
  throw UserError("the environment variable " + std::string(variable) + " is '" + value +
                  "', expected a number of threads from 1 to " + std::to_string(maxThreads));
}

} // namespace

int chooseThreadCount(const LaunchInfo &launch, int share, const EnvironmentLookup &environment) {
  char *end = nullptr;
  auto number = [&](const std::string &text) { return std::strtol(text.c_str(), &end, 10); };
  if (auto wanted = environment("TITAN_NUM_THREADS"); wanted && !wanted->empty()) {
    const long threads = number(*wanted);
    if (*end != '\0' || threads < 1 || threads > maxThreads)
      refuseThreads("TITAN_NUM_THREADS", *wanted);
    return static_cast<int>(threads);
  }
  bool severalUnderTorchrun = launch.launcher == Launcher::Torchrun && launch.localWorldSize > 1;
  // A list by nesting level ("4,2") starts with the outer level.
  const std::string wanted = environment("OMP_NUM_THREADS").value_or("");
  const long threads = number(wanted);
  if (threads > maxThreads)
    refuseThreads("OMP_NUM_THREADS", wanted);
  if (threads > 1 || (threads == 1 && !severalUnderTorchrun))
    return static_cast<int>(threads);
  return share;
}

} // namespace titan::rt
