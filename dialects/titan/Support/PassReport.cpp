// Statistics and debug output of passes.

#include "dialects/titan/Support/PassReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Debug.h"

#include <mutex>
#include <tuple>
#include <vector>

// The library has these functions in every build. Without assertions its header hides them behind
// macros.
#undef isCurrentDebugType
#undef setCurrentDebugTypes
namespace llvm {
bool isCurrentDebugType(const char *type);
void setCurrentDebugTypes(const char **types, unsigned count);
} // namespace llvm

bool titan::isDebugged(const char *pass) {
  return llvm::DebugFlag && llvm::isCurrentDebugType(pass);
}

void titan::addDebugged(const std::string &pass) {
  static std::vector<std::string> passes;
  passes.push_back(pass);
  std::vector<const char *> types;
  for (const std::string &each : passes)
    types.push_back(each.c_str());
  llvm::setCurrentDebugTypes(types.data(), types.size());
  llvm::DebugFlag = true;
}

namespace {
struct Counters {
  std::mutex mutex;
  std::vector<const titan::PassCounter *> all;
};
} // namespace

static Counters &getCounters() {
  static Counters counters;
  return counters;
}

titan::PassCounter::PassCounter(llvm::StringRef pass, llvm::StringRef name)
    : pass(pass), name(name) {
  std::scoped_lock lock(getCounters().mutex);
  getCounters().all.push_back(this);
}

void titan::printStatistics(llvm::raw_ostream &out) {
  std::scoped_lock lock(getCounters().mutex);
  llvm::sort(getCounters().all, [](const PassCounter *a, const PassCounter *b) {
    return std::tie(a->pass, a->name) < std::tie(b->pass, b->name);
  });
  for (const PassCounter *counter : getCounters().all)
    if (counter->get())
      out << counter->pass << ' ' << counter->name << ' ' << counter->get() << '\n';
}
