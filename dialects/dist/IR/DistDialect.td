//===- DistDialect.td - The `dist` dialect: machines and shardings --------===//

#ifndef TITAN_DIST_DIALECT_TD
#define TITAN_DIST_DIALECT_TD

include "mlir/IR/OpBase.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::titan::dist";
  let summary = "Meshes, shardings with partial values, and collectives";
  let description = [{
    `dist` says how the tensors of the `titan` dialect lie on a machine. A mesh has *named* axes; a
    sharding lists, for every dimension of a tensor, the axes that split it, and the axes over which
    the value is still *partial* (unreduced). Both are part of the tensor's type, so that forgetting
    a reduction is a type error. The design follows Shardy (openxla/shardy, `docs/sharding_representation.md`)
    and goes past it in partial values and flat storage; see `docs/design.md`.
  }];
  let useDefaultAttributePrinterParser = 1;
}

#endif // TITAN_DIST_DIALECT_TD
