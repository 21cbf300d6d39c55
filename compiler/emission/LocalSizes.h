// Sizes of local tensors as named constants.
//
// Local sizes of tensors in terms of constants in the emitted source: `seq_` for an unsharded
// dimension, `seq_tp_` for one that a mesh axis shards. Sizes that depend on an `auto` degree are
// variables of the function, computed from `ctx.degree`.
#pragma once

#include "compiler/emission/Names.h"
#include "compiler/emission/SizeExpr.h"
#include "dialects/dist/IR/DistOps.h"

#include "llvm/ADT/MapVector.h"

namespace titan::emission {

/// The key of the one dimension that flat storage has instead of the flattened ones. No dimension
/// of a program has this name.
inline constexpr llvm::StringLiteral kFlat = "flat storage";

/// A dimension of a local tensor: the name that operations use, and its local size.
struct LocalDim {
  std::string key;
  SizeFactor size;
};

class LocalSizes {
public:
  explicit LocalSizes(dist::MeshOp mesh) : mesh(mesh) {}

  /// The local dimensions of a tensor, and the product of their sizes.
  llvm::SmallVector<LocalDim> getDims(ir::NamedTensorType type);
  SizeExpr getCount(ir::NamedTensorType type);
  /// The number of elements that the ranks along the flat axes have together, without padding.
  SizeExpr getCountBeforeFlat(ir::NamedTensorType type);
  /// The number of elements that one block has in all these allocations together: the stride from a
  /// slot of an allocation to its next. The emitted constant has a name like `wanted`.
  SizeFactor getBucketSize(llvm::StringRef wanted, llvm::ArrayRef<ir::NamedTensorType> allocations);
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
  /// The name of this constant inside the namespace `mesh`: `tp_`.
  static std::string getConstant(dist::MeshOp mesh, mlir::StringAttr axis);
  /// Whether the degree of one of `axes` is fixed at launch.
  bool isAuto(mlir::ArrayAttr axes);

  /// The name of a constant array of these numbers; equal arrays are merged.
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
  /// Declares a constant, or a variable if `value` is 0, with a name like `wanted`, unless one with
  /// this definition exists.
  SizeFactor declare(llvm::StringRef wanted, llvm::StringRef definition, int64_t value);

  dist::MeshOp mesh;
  NameScope scope;
  llvm::StringMap<SizeFactor> known; ///< declared sizes by their definitions
  /// The sizes of `getSize` that are constants, which no function has to declare.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, SizeFactor> constantSizes;
  llvm::SmallVector<std::string> constants;
  llvm::MapVector<llvm::StringRef, std::string> variables; ///< name to definition
  llvm::SmallVector<std::string> used; ///< definitions of the current function's variables
};

} // namespace titan::emission
