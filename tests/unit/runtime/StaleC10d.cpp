// A c10d module with an interface that differs from the program's.
#include "runtime/lib/comm/C10dModule.h"

titan::rt::Rendezvous *titan::rt::titanConnectC10d(const char *, const LaunchInfo &,
                                                   const CommOptions &) {
  return nullptr;
}
