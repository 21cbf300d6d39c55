// The description of a program.
//
// Emits `programMesh()` and `program(degree)`, the tables that the runtime needs before it calls
// the functions. Sizes are expressions of the degrees, since `auto` degrees are fixed at launch.
// `describe` functions contain the degree-dependent data, one for each compiled variant of the
// program.
#pragma once

#include "compiler/emission/HostFunctions.h"
#include "compiler/emission/Writer.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::emission {

class ProgramTable {
public:
  ProgramTable(mlir::ModuleOp module, Writer &out);
  /// `describe`: allocations, tensors and functions. `namespaces`: that of each function, in order.
  void emitDescription(llvm::ArrayRef<mlir::func::FuncOp> functions,
                       llvm::ArrayRef<std::string> namespaces);
  /// The rest. `degreeOne`: the namespace for degree 1 of the `auto` axis, or empty. `checksum`
  /// covers all earlier text.
  void emit(const HostFunctions &hostFunctions, llvm::StringRef degreeOne,
            llvm::StringRef checksum);

private:
  void emitMesh();
  /// The call of `describe` that belongs to the degree of the `auto` axis.
  void emitDescribeCall(llvm::StringRef degreeOne);
  void emitSettings();
  void emitWeights();
  void emitPersistent();
  void emitTensors(mlir::func::FuncOp function);
  /// The inputs of a program that is cut into fragments.
  void emitInputs(mlir::func::FuncOp declaration);
  void emitPipelines();
  void emitTensor(mlir::func::FuncOp function, mlir::DictionaryAttr attributes,
                  ir::NamedTensorType type, ir::AllocRefAttr ref);
  /// Dimensions that the `auto` degree must divide; dimensions of tensors are emitted elsewhere.
  void emitDivisibility(llvm::ArrayRef<mlir::func::FuncOp> functions);
  /// The routes of all messages, which the runtime connects at the start.
  void emitRoutes(llvm::ArrayRef<mlir::func::FuncOp> functions);
  void emitFunction(mlir::func::FuncOp function, llvm::StringRef name);
  /// The steps in which a turn runs; nothing for other functions.
  void emitTurn(mlir::func::FuncOp function);
  std::string getAllocation(ir::AllocationAttr allocation);
  /// A TensorInfoRow: element type, dimensions and sharding. `unpadded`: the sizes without padding,
  /// or null.
  std::string getTensorInfo(ir::NamedTensorType type, mlir::DenseI64ArrayAttr unpadded);
  std::string getAxes(mlir::ArrayAttr axes);
  /// The number of elements per rank, as an expression of `degree`.
  std::string getCount(ir::NamedTensorType type);

  mlir::ModuleOp module;
  dist::MeshOp mesh;
  Writer &out;
  /// Allocations that already have a tensor; shared ones have no function. A named loss is a
  /// separate tensor, also if it is the only loss and thus equals the sum.
  llvm::DenseSet<std::tuple<mlir::Operation *, ir::AllocRefAttr, llvm::StringRef>> described;
  int64_t parameters = 0;   ///< number of elements of all parameters, without padding
  mlir::Type parameterType; ///< the element type of the first parameter; null without one
};

} // namespace titan::emission
