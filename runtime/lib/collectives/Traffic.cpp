#include "Traffic.h"

#include <algorithm>

namespace titan::rt {

void Traffic::add(const CollectiveCall &call, GroupRef axes) {
  auto isSame = [&](const Use &use) {
    return use.kind == call.site.action &&
           std::equal(use.axes.begin(), use.axes.end(), axes.axes, axes.axes + axes.count);
  };
  auto use = std::find_if(all.begin(), all.end(), isSame);
  if (use == all.end())
    use = all.insert(use, {call.site.action, {axes.axes, axes.axes + axes.count}});
  ++use->times;
  use->bytes += countBytesSent(call);
}

} // namespace titan::rt
