//===- CollectiveEmitter.h - One value of a collective ----------*- C++ -*-===//
//
// What the runtime is told of one value that a collective moves or that a rank converts by itself,
// and what must be written before and after the call: padding of flat storage, copies.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_EMISSION_COLLECTIVEEMITTER_H
#define TITAN_COMPILER_EMISSION_COLLECTIVEEMITTER_H

#include "compiler/emission/FunctionEmitter.h"

namespace titan::emission {

/// What one collective moves: block `[outer, d, inner]` of a dimension, or rows of flat storage.
struct Blocks {
  SizeExpr outer, inner;
  SizeExpr d; ///< the split dimension's local size on the side where it is split
};

/// What the runtime is told of one value that a collective moves.
struct CollectiveOperand {
  std::string in, out;
  Blocks blocks;
  std::string after; ///< a line that comes behind the call
};

/// `in, out, outer, d, inner`
std::string getArguments(const CollectiveOperand &operand);

/// One value of a collective or of a local conversion.
class CollectiveEmitter {
public:
  CollectiveEmitter(FunctionEmitter &emitter, mlir::Operation *op, unsigned i)
      : emitter(emitter), out(emitter.out()), op(op), index(i), input(op->getOperand(i)),
        result(op->getResult(i)), from(mlir::cast<ir::NamedTensorType>(input.getType())),
        to(mlir::cast<ir::NamedTensorType>(result.getType())),
        axes(op->getAttrOfType<mlir::ArrayAttr>("axes")) {}

  /// Writes what must come before, and returns what the call needs.
  mlir::FailureOr<CollectiveOperand> gather();
  mlir::FailureOr<CollectiveOperand> scatter();
  mlir::FailureOr<CollectiveOperand> reduce();
  /// Flat storage below rows that are stored one by one: a call for each.
  bool hasRows() const;
  mlir::LogicalResult gatherRows();
  mlir::LogicalResult scatterRows();
  mlir::LogicalResult allToAll();
  mlir::LogicalResult localSlice();
  mlir::LogicalResult makePartial();
  /// The call up to the values: `allGather(ctx, over<mesh::tp>(), DType::F32`.
  std::string start();

private:
  /// The dimension whose axis list differs and is longer in `a`; -1 where only flat axes differ.
  static int64_t getSplitDim(ir::NamedTensorType a, ir::NamedTensorType b);
  Blocks getBlocks(ir::NamedTensorType split, int64_t dim);
  std::string getReduction();
  mlir::LogicalResult sliceFlat();
  ir::NamedTensorType getFlat() const {
    return from.getShardingOrReplicated().isFlat() ? from : to;
  }
  /// Elements of a row of flat storage, whole and this rank's part.
  void getRow(SizeExpr &rows, SizeExpr &whole, SizeExpr &shard);
  /// A buffer for a padded row; empty where the value's own has room.
  std::string getPadded();
  void padRow(const std::string &source, const std::string &padded, const SizeExpr &whole,
              const SizeExpr &shard);
  /// Opens a loop over the rows above flat storage and returns its variable; empty for one row.
  std::string openRows(const SizeExpr &rows);

  FunctionEmitter &emitter;
  Writer &out;
  mlir::Operation *op;
  unsigned index;
  mlir::Value input, result;
  ir::NamedTensorType from, to;
  mlir::ArrayAttr axes;
};

} // namespace titan::emission

#endif // TITAN_COMPILER_EMISSION_COLLECTIVEEMITTER_H
