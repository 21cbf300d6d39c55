// The `dist` dialect: meshes and shardings.

#ifndef TITAN_DIST_DIALECT_TD
#define TITAN_DIST_DIALECT_TD

include "mlir/IR/OpBase.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::titan::dist";
  let summary = "Meshes, shardings with partial values, and collectives";
  let description = [{
    `dist` describes the distribution of `titan` tensors over ranks. A mesh has *named* axes. A sharding
    lists the axes that shard each dimension of a tensor, and the axes over which the value is *partial*
    (unreduced). The sharding is part of the tensor type, so a forgotten reduction is a type error. The
    design follows Shardy (openxla/shardy, `docs/sharding_representation.md`). It adds partial values and
    flat storage; see `docs/design.md`.
  }];
  let useDefaultAttributePrinterParser = 1;
  // Discardable attributes are verified by the table in DiscardableAttributes.cpp.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

#endif // TITAN_DIST_DIALECT_TD
