#include "MatrixUnit.h"

#include "Amx.h"
#include "Avx512.h"

namespace titan::rt {

const MatrixUnit *matrixUnit() {
  if (amx::isAvailable())
    return amx::matrixUnit();
  return avx512::hasBfloat16() ? avx512::matrixUnit() : nullptr;
}

} // namespace titan::rt
