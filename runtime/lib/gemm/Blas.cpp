#include "Blas.h"

#include "launch/Libraries.h"

#include "base/Error.h"

#include <dlfcn.h>

namespace titan::rt {

static Blas load() {
  void *library = openLibrary(kLibTorch, /*use=*/"multiplies matrices");
  Blas found{reinterpret_cast<BlasProduct<float> *>(dlsym(library, "sgemm_")),
             reinterpret_cast<BlasProduct<double> *>(dlsym(library, "dgemm_")),
             reinterpret_cast<BlasProduct<uint16_t, float> *>(dlsym(library, "GEMM_BF16BF16F32"))};
  if (!found.sgemm || !found.dgemm)
    throw Fault("LibTorch exports no BLAS (sgemm_, dgemm_), which multiplies matrices here: "
                "build Titan with another LibTorch (scripts/setup --torch DIR)");
  return found;
}

const Blas &blas() {
  static const Blas loaded = load();
  return loaded;
}

} // namespace titan::rt
