#include "base/Error.h"
#include "titan/runtime/program.h"

#include <fmt/format.h>

namespace titan::rt {

void failAtIndex(const BadIndex &bad) {
  throw Fault(fmt::format("{}: index {} is outside of `{}`, which has {} element{}", bad.location,
                          bad.index, bad.dim, bad.size, bad.size == 1 ? "" : "s"));
}

} // namespace titan::rt
