#include "MatrixUnit.h"

#include "Amx.h"
#include "VectorUnit.h"

namespace titan::rt {

const MatrixUnit *matrixUnit() {
  if (amx::isAvailable())
    return amx::matrixUnit();
  return pairVectors() ? avx512::matrixUnit() : nullptr;
}

} // namespace titan::rt
