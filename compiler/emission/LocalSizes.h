//===- LocalSizes.h - What a rank holds, as named constants ----------*- C++ -*-===//
//
// Local sizes of tensors in terms of constants that the emitted source declares: `seq` for a whole
// dimension, `seq_tp` for one that is split over a mesh axis. Sizes that an `auto` degree divides
// are not constants of the program but variables of the function, declared from `ctx.degree`.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_LOCALSIZES_H
#define TITAN_COMPILER_EMISSION_LOCALSIZES_H

#include "compiler/emission/Names.h"
#include "compiler/emission/SizeExpr.h"
#include "dialects/dist/IR/DistOps.h"

#include "llvm/ADT/MapVector.h"

namespace titan::emission {

/// A dimension of a local tensor: the name by which operations find it, and its local size. Flat
/// storage has one dimension, kFlat, in place of those that are flattened.
inline constexpr llvm::StringLiteral kFlat = "flat storage"; // no dimension has this name
struct LocalDim {
  std::string key;
  SizeFactor size;
};

class LocalSizes {
public:
  explicit LocalSizes(dist::MeshOp mesh) : mesh(mesh) {}

  llvm::SmallVector<LocalDim> getDims(ir::NamedTensorType type);
  SizeExpr getCount(ir::NamedTensorType type);
  /// Elements without flat storage: what all ranks of the flat axes hold together.
  SizeExpr getCountBeforeFlat(ir::NamedTensorType type);
  /// Elements of a bucket in which these buffers lie: from one slot of a buffer to its next.
  SizeFactor getBucket(llvm::StringRef name, llvm::ArrayRef<ir::NamedTensorType> buffers);
  /// Size of dimension `dim` split over `axes` (an array of names).
  SizeFactor getSize(ir::DimAttr dim, mlir::ArrayAttr axes);
  /// Product of the degrees of `axes`, as an expression.
  SizeFactor getDegree(mlir::ArrayAttr axes);
  /// This rank's index among the parts into which `axes` split something, outer to inner.
  std::string getShardIndex(mlir::ArrayAttr axes);
  /// Index of an axis in the mesh.
  int64_t getAxis(mlir::StringAttr name);
  /// The axis as a constant of emitted code, which is its index: `mesh::tp_`.
  std::string getAxisName(mlir::StringAttr axis) const { return getAxisName(mesh, axis); }
  static std::string getAxisName(dist::MeshOp mesh, mlir::StringAttr axis);
  /// Its name inside the namespace `mesh`.
  static std::string getConstant(dist::MeshOp mesh, mlir::StringAttr axis);
  bool isAuto(mlir::ArrayAttr axes);

  /// A constant array of these numbers, as its name; equal ones are one.
  std::string getTable(llvm::StringRef wanted, llvm::ArrayRef<int64_t> numbers);

  /// `constexpr` lines for the program.
  llvm::ArrayRef<std::string> getConstants() const { return constants; }
  /// Starts a function; `takeVariables` then returns the lines that declare what it used.
  void startFunction() { used.clear(); }
  llvm::SmallVector<std::string> takeVariables();
  /// What the current function used so far, to come back to it after another one.
  llvm::SmallVector<std::string> takeUsed() { return std::move(used); }
  void restoreUsed(llvm::SmallVector<std::string> saved) { used = std::move(saved); }
  /// All names that are declared so far; a function's own must differ from them.
  void reserveNames(NameScope &scope);

private:
  SizeFactor declare(llvm::StringRef wanted, llvm::StringRef definition, int64_t value);

  dist::MeshOp mesh;
  NameScope scope;
  llvm::StringMap<SizeFactor> known; ///< by definition
  llvm::SmallVector<std::string> constants;
  llvm::MapVector<llvm::StringRef, std::string> variables; ///< name to definition
  llvm::SmallVector<std::string> used;
};

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_LOCALSIZES_H
