// The interface of operations that have a translation to ONNX.

#ifndef TITAN_ONNX_INTERFACE_TD
#define TITAN_ONNX_INTERFACE_TD

include "mlir/IR/OpBase.td"

def Titan_OnnxOpInterface : OpInterface<"OnnxOpInterface"> {
  let cppNamespace = "::titan::onnx";
  let description = [{
    The operation in operators of ONNX (docs/rationale/onnx.md), on global tensors of the model phase.
  }];
  let methods = [InterfaceMethod<[{
    Adds the operators to the graph, and sets the tensors of all results. Fails, with an error at the
    operation, if no operators compute them.
  }], "::mlir::LogicalResult", "translateToOnnx", (ins "::titan::onnx::Translation &":$translation)>];
}

#endif // TITAN_ONNX_INTERFACE_TD
