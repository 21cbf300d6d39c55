#include "titan/runtime/error.h"
#include "titan/runtime/launch.h"

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

int chooseThreadCount(const LaunchInfo &launch, int share, const EnvironmentLookup &environment) {
  // OMP_NUM_THREADS may be a list by nesting level ("4,2"); its first number is the outer level.
  auto number = [&](const char *name) { return std::atoi(environment(name).value_or("").c_str()); };
  if (auto wanted = environment("TITAN_NUM_THREADS"); wanted && !wanted->empty()) {
    if (number("TITAN_NUM_THREADS") < 1)
      throw UserError("the environment variable TITAN_NUM_THREADS is '" + *wanted +
                      "', expected a number of threads greater than 0");
    return number("TITAN_NUM_THREADS");
  }
  bool severalUnderTorchrun = launch.launcher == Launcher::Torchrun && launch.localWorldSize > 1;
  if (int threads = number("OMP_NUM_THREADS");
      threads > 1 || (threads == 1 && !severalUnderTorchrun))
    return threads;
  return share;
}

} // namespace titan::rt
