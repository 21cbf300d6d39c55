#include "Libraries.h"

#include "LoadedCode.h"

#include "base/Error.h"

#include <dlfcn.h>
#include <string>

namespace titan::rt {

void *openLibrary(const char *file, const char *use) {
  void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    throw Fault(std::string("cannot load ") + file + ", which " + use + " here: " + dlerror() +
                "; name its folder in LD_LIBRARY_PATH, or build the program again");
  releaseLoadedCode();
  return library;
}

} // namespace titan::rt
