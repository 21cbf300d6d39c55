// The dialect `softplus` with one operation, ln(1 + e^x).

#ifndef SOFTPLUS_TD
#define SOFTPLUS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/titan/IR/TitanOpBase.td"
include "dialects/titan/Interfaces/TitanInterfaces.td"

def Softplus_Dialect : Dialect {
  let name = "softplus";
  let cppNamespace = "::softplus";
  let description = [{ A function that no dialect of Titan has. }];
}

// A plugin's operation implements the compiler's interfaces itself. The trait says that it is
// elementwise, so that every phase treats it like titan.exp.
def Softplus_SoftplusOp : Op<Softplus_Dialect, "softplus", [Pure, Titan_Elementwise,
    DeclareOpInterfaceMethods<Titan_DifferentiableOpInterface>,
    DeclareOpInterfaceMethods<Titan_ShardingRuleOpInterface>,
    DeclareOpInterfaceMethods<Titan_EvaluableOpInterface>,
    DeclareOpInterfaceMethods<Titan_ScalarOpInterface>]> {
  let summary = "ln(1 + e^x) of every element, exact for large x";
  let description = [{
    Constraints:
    - (C1) operand and result are equal up to sharding.

    Example: `%y = softplus.softplus %x : !titan.tensor<f32[seq = 8]> -> !titan.tensor<f32[seq = 8]>`
  }];
  let arguments = (ins Titan_Tensor:$input);
  let results = (outs Titan_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

#endif // SOFTPLUS_TD
