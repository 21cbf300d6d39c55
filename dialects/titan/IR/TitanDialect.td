// The `titan` dialect: global tensor programs.

#ifndef TITAN_TITAN_DIALECT_TD
#define TITAN_TITAN_DIALECT_TD

include "mlir/IR/OpBase.td"

def Titan_Dialect : Dialect {
  let name = "titan";
  let cppNamespace = "::titan::ir";
  let summary = "Training programs on global tensors with named dimensions";
  let description = [{
    `titan` describes a training step on global tensors with named dimensions. Operations match
    dimensions by name: the index space of an elementwise operation is the union of its operands'
    dimensions; a contraction sums over the dimensions that both operands have and the result lacks.
    Layers are a `titan.repeat`, which becomes one loop in the emitted program.
  }];
  let useDefaultAttributePrinterParser = 1;
  // Discardable attributes are verified by the table in DiscardableAttributes.cpp.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let dependentDialects = ["::titan::dist::DistDialect"]; // the tensor type contains a sharding
}

#endif // TITAN_TITAN_DIALECT_TD
