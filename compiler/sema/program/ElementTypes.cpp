#include "compiler/sema/program/ElementTypes.h"

#include <cmath>

namespace titan::sema {

bool canInitialise(DType dtype, const Initialiser &init) {
  return isFloat(dtype) ||
         (init.kind == Initialiser::Kind::Constant && std::trunc(init.scale) == init.scale);
}

void reportHalf(Location at, DiagnosticEngine &diags) {
  diags
      .report(Code::HalfPrecision, at,
              "f16 is not supported: without loss scaling, small gradients become 0")
      .help("use bf16, which has the exponent range of f32");
}

} // namespace titan::sema
