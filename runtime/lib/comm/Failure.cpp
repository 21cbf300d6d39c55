// The Fault of a failed collective (Rendezvous.h). Compiled into both the runtime and its c10d
// module.
#include "Rendezvous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace titan::rt {

Fault makeFailure(const Group &group, const char *operation, Site site, const std::string &cause,
                  double seconds, Fault::Peer peer) {
  std::string what = site.action && *site.action ? site.action : operation;
  std::string where = site.source && *site.source ? fmt::format(" ({})", site.source) : "";
  return Fault(fmt::format("rank {}: {}{} failed after {:.1f} s in the group of ranks {{{}}}: {}",
                           group.ranks()[group.rank()], what, where, seconds,
                           fmt::join(group.ranks(), ", "), cause),
               peer);
}

} // namespace titan::rt
