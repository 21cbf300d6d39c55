// What an axis sends for products of rows with tables of parameters.
//
// A table has a matrix for each element of a dimension, such as `experts`. If an axis may shard
// this dimension and one of the rows, such as `batch`, it can move the rows to the matrices or
// gather the matrices. This class estimates the bytes of both, for a rank and a step, without the
// factor (n - 1) / n that they share.
#pragma once

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "llvm/ADT/DenseSet.h"
#include <set>

namespace titan::dist {

class TableTraffic {
public:
  /// Rows move `passes` times to and fro: forward, backward and, if recomputed, again.
  TableTraffic(const MeshView &mesh, size_t axis, int passes)
      : mesh(mesh), axis(axis), passes(passes) {}

  /// Adds the products of a train program.
  void add(mlir::func::FuncOp program);

  /// The positions, in `shards` of the axis, of dimensions of tables and of their rows.
  const std::set<size_t> &getTables() const { return tables; }
  const std::set<size_t> &getRows() const { return rows; }
  double getMovedBytes() const { return moved; }
  double getGatheredBytes() const { return gathered; }

private:
  /// A product of rows with the matrices of a table.
  struct Product {
    mlir::Value rows, table, parameter = {};
    llvm::SmallVector<ir::DimAttr> shared = {}; ///< dimensions with a matrix for each element
    llvm::SmallVector<ir::DimAttr> own = {};    ///< dimensions of the rows that tables lack
    bool isGrouped = false;                     ///< rows select their matrices
  };

  static std::optional<Product> readProduct(mlir::Operation *op);
  std::set<size_t> findListed(llvm::ArrayRef<ir::DimAttr> dims) const;
  double countElements(ir::NamedTensorType type) const;
  /// False if the axis cannot shard both the table and the rows.
  bool addProduct(mlir::Operation *op, const Product &product, ir::PrecisionAttr precision);
  void addRows(mlir::Operation *op, const Product &product, ir::PrecisionAttr precision);
  void addComputed(mlir::Operation *op);

  const MeshView &mesh;
  size_t axis;
  int passes;
  double microbatches = 1; ///< of the program: tables are gathered in each of them
  double moved = 0, gathered = 0;
  std::set<size_t> tables, rows;
  llvm::DenseSet<mlir::Value> counted;  ///< rows and parameters
  llvm::DenseSet<mlir::Value> computed; ///< products, and what follows from them on the same rank
  llvm::DenseSet<mlir::Attribute> free; ///< names of dimensions that products add to their rows
};

} // namespace titan::dist
