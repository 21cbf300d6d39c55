// The error of an index out of range (program.h).
#include "base/Error.h"
#include "base/text/Counted.h"
#include "titan/runtime/program.h"

#include <fmt/format.h>

namespace titan::rt {

void failAtIndex(const BadIndex &bad) {
  throw Fault(fmt::format("{}: index {} is outside of `{}`, which has {}", bad.location, bad.index,
                          bad.dim, counted(bad.size, "element")));
}

} // namespace titan::rt
