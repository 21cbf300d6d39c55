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
              "f16 is not supported: small gradients would become 0 without scaling of the loss")
      .help("use bf16, which has the exponents of f32");
}

} // namespace titan::sema
