//===- TitanDialect.td - The `titan` dialect: global tensor programs ------===//

#ifndef TITAN_TITAN_DIALECT_TD
#define TITAN_TITAN_DIALECT_TD

include "mlir/IR/OpBase.td"

def Titan_Dialect : Dialect {
  let name = "titan";
  let cppNamespace = "::titan::ir";
  let summary = "Training programs on global tensors with named dimensions";
  let description = [{
    `titan` describes what a training step computes, on whole ("global") tensors whose dimensions
    have names. Operations find the dimensions they work on by name: an elementwise operation joins
    its operands' dimensions, a contraction sums those that both operands have and the result lacks.
    Layers are a `titan.repeat`, kept as structure to the emitted loop.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::titan::dist::DistDialect"]; // the tensor type holds shardings
}

#endif // TITAN_TITAN_DIALECT_TD
