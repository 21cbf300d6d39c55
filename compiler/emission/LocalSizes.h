// Sizes of local tensors as named constants.
//
// Local sizes of tensors in terms of constants in the emitted source: `seq` for an unsharded
// dimension, `seq_tp` for one that a mesh axis shards. Sizes that depend on an `auto` degree are
// variables of the function, computed from `ctx.degree`.
#pragma once

#include "compiler/emission/Names.h"
#include "compiler/emission/SizeExpr.h"
#include "dialects/dist/IR/DistOps.h"

#include "llvm/ADT/MapVector.h"

namespace titan::emission {

/// A dimension of a local tensor: the name that operations use, and its local size. Flat storage
/// has one dimension, kFlat, instead of the flattened ones.
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
  /// The number of elements on all ranks of the flat axes together.
  SizeExpr getCountBeforeFlat(ir::NamedTensorType type);
  /// The number of elements in a bucket of these allocations: the stride between the slots of one.
  SizeFactor getBucket(llvm::StringRef name, llvm::ArrayRef<ir::NamedTensorType> buffers);
  /// Size of dimension `dim` split over `axes` (an array of names).
  SizeFactor getSize(ir::DimAttr dim, mlir::ArrayAttr axes);
  /// Product of the degrees of `axes`, as an expression.
  SizeFactor getDegree(mlir::ArrayAttr axes);
  /// This rank's index among the shards of `axes`, outer to inner.
  std::string getShardIndex(mlir::ArrayAttr axes);
  /// The index of an axis in the mesh.
  int64_t getAxis(mlir::StringAttr name);
  /// The constant of the axis in emitted code, which is its index: `mesh::tp_`.
  std::string getAxisName(mlir::StringAttr axis) const { return getAxisName(mesh, axis); }
  static std::string getAxisName(dist::MeshOp mesh, mlir::StringAttr axis);
  /// Its name inside the namespace `mesh`.
  static std::string getConstant(dist::MeshOp mesh, mlir::StringAttr axis);
  bool isAuto(mlir::ArrayAttr axes);

  /// A constant array of these numbers, by its name; equal arrays are merged.
  std::string getTable(llvm::StringRef wanted, llvm::ArrayRef<int64_t> numbers);

  /// `constexpr` lines for the program.
  llvm::ArrayRef<std::string> getConstants() const { return constants; }
  /// Starts a function; `takeVariables` then returns the declarations of the variables that it
  /// used.
  void startFunction() { used.clear(); }
  llvm::SmallVector<std::string> takeVariables();
  /// The variables that the current function used so far, to be restored after another function.
  llvm::SmallVector<std::string> takeUsed() { return std::move(used); }
  void restoreUsed(llvm::SmallVector<std::string> saved) { used = std::move(saved); }
  /// Reserves all declared names, so that local names differ from them.
  void reserveNames(NameScope &scope);

private:
  SizeFactor makeSize(ir::DimAttr dim, mlir::ArrayAttr axes);
  SizeFactor declare(llvm::StringRef wanted, llvm::StringRef definition, int64_t value);

  dist::MeshOp mesh;
  NameScope scope;
  llvm::StringMap<SizeFactor> known; ///< by definition
  /// The sizes of `getSize` that are constants, which no function has to declare.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, SizeFactor> constantSizes;
  llvm::SmallVector<std::string> constants;
  llvm::MapVector<llvm::StringRef, std::string> variables; ///< name to definition
  llvm::SmallVector<std::string> used;
};

} // namespace titan::emission
