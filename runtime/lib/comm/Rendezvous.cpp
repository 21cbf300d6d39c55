#include "Rendezvous.h"
#include "C10dModule.h"

#include "launch/Libraries.h"

#include "base/Error.h"

#include <dlfcn.h>

namespace titan::rt {

std::unique_ptr<Rendezvous> Rendezvous::connect(const LaunchInfo &launch, CommOptions options) {
  const char *use = "connects processes", *file = "libtitan_c10d.so";
  openLibrary(kLibTorch, use); // from the program's path; the module uses the loaded library
  void *module = openLibrary(file, use);
  auto *connect = reinterpret_cast<decltype(&titanConnectC10d)>(dlsym(module, "titanConnectC10d"));
  Rendezvous *rendezvous = connect ? connect(TITAN_C10D_INTERFACE, launch, options) : nullptr;
  if (!rendezvous)
    throw Fault(std::string(file) + " belongs to another build of Titan: build the program again");
  return std::unique_ptr<Rendezvous>(rendezvous);
}

const char *findC10dInterface() {
  return TITAN_C10D_INTERFACE;
}

} // namespace titan::rt
