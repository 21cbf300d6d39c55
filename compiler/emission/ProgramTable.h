//===- ProgramTable.h - The description of a program ------------*- C++ -*-===//
//
// Emits `programMesh()` and `program(degree)`: what the runtime must know before it can call the
// functions. Sizes are expressions of the degrees, since `auto` ones are fixed at launch. What the
// degrees decide is in functions `describe`, one for each way in which the program was compiled.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_PROGRAMTABLE_H
#define TITAN_COMPILER_EMISSION_PROGRAMTABLE_H

#include "compiler/emission/Writer.h"
#include "dialects/dist/IR/DistOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::emission {

class ProgramTable {
public:
  ProgramTable(mlir::ModuleOp module, Writer &out);
  /// `describe`: buffers, tensors and functions. `namespaces`: that of each function, in order.
  void emitDescription(llvm::ArrayRef<mlir::func::FuncOp> functions,
                       llvm::ArrayRef<std::string> namespaces);
  /// The rest. `degreeOne`: the namespace that is for the degree 1 of the `auto` axis, or empty.
  /// `checksum` is that of all that was emitted before.
  void emit(llvm::StringRef degreeOne, llvm::StringRef checksum);

private:
  void emitMesh();
  void emitChoice(llvm::StringRef degreeOne);
  void emitSettings();
  void emitPersistent();
  void emitTensors(mlir::func::FuncOp function);
  void emitTensor(mlir::func::FuncOp function, mlir::DictionaryAttr attributes,
                  ir::NamedTensorType type, ir::AllocRefAttr ref);
  /// What a degree of the `auto` axis must divide besides the tensors' dimensions.
  void emitDivisibility(llvm::ArrayRef<mlir::func::FuncOp> functions);
  void emitFunction(mlir::func::FuncOp function, llvm::StringRef name);
  std::string getAllocation(ir::AllocationAttr allocation);
  /// `unpadded`: the sizes without padding, or null.
  std::string getInfo(ir::NamedTensorType type, mlir::DenseI64ArrayAttr unpadded);
  std::string getAxes(mlir::ArrayAttr axes);
  /// Elements on a rank, as an expression of `degree`.
  std::string getCount(ir::NamedTensorType type);

  mlir::ModuleOp module;
  dist::MeshOp mesh;
  Writer &out;
  /// Places that already have a tensor; those of no function are shared.
  llvm::DenseSet<std::pair<mlir::Operation *, ir::AllocRefAttr>> described;
  int64_t parameters = 0;
  mlir::Type parameterType; ///< element type of the first parameter; null where there is none
};

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_PROGRAMTABLE_H
