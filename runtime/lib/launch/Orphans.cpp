#include "Orphans.h"

#include "EnvironmentVariable.h"

namespace titan::rt {

bool endsWithLauncher(const LaunchInfo &launch) {
  constexpr std::string_view words[] = {"end", "keep"};
  if (readWord("TITAN_ORPHANS", words) == 1)
    return false;
  return launch.launcher == Launcher::Torchrun ? std::getenv("TORCHELASTIC_RUN_ID") != nullptr
                                               : launch.launcher != Launcher::Alone;
}

} // namespace titan::rt
