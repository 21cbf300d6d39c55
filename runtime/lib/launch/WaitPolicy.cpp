#include "WaitPolicy.h"

#include <climits>
#include <sys/syscall.h>
#include <unistd.h>

namespace titan::rt {

namespace {

bool startsWith(const char *text, const char *prefix) {
  for (; *prefix; ++text, ++prefix)
    if (*text != *prefix)
      return false;
  return true;
}

} // namespace

// Neither the C library nor a sanitizer is initialised: system calls only, no allocation.
__attribute__((no_sanitize("address", "thread", "undefined"))) void
shortenSpinning(int, char **argv, char **environment) {
  constexpr int maxVariables = 8192;
  static char variable[] = "GOMP_SPINCOUNT=10000";
  static char *extended[maxVariables + 2];
  int count = 0;
  for (; environment[count]; ++count) {
    if (count == maxVariables || startsWith(environment[count], "GOMP_SPINCOUNT=") ||
        startsWith(environment[count], "OMP_WAIT_POLICY="))
      return;
    extended[count] = environment[count];
  }
  extended[count] = variable;
  static char self[PATH_MAX];
  long length = syscall(SYS_readlink, "/proc/self/exe", self, sizeof(self) - 1);
  if (length > 0)
    syscall(SYS_execve, self, argv, extended);
}

} // namespace titan::rt
