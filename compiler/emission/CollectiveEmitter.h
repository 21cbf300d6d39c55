// Emission of one collective operand.
//
// Emits the arguments of one operand of a collective or local conversion, and the code around the
// call: padding of flat storage, and copies.
#pragma once

#include "compiler/emission/FunctionEmitter.h"

namespace titan::emission {

/// The shape of a transfer: `outer` blocks `[d, inner]` of a dimension, or rows of flat storage.
struct Blocks {
  SizeExpr outer, inner;
  SizeExpr d; ///< the local size of the sharded dimension
};

/// One operand of a collective call.
struct CollectiveOperand {
  std::string in, out;
  Blocks blocks;
  std::string after;       ///< a line to emit after the call
  std::string shape = {};  ///< of an all-to-all, instead of blocks
  bool isHeadTail = false; ///< of the order of the shards
};

/// `in, out, outer, d, inner`, and the order of the shards unless they are blocks.
std::string getArguments(const CollectiveOperand &operand);

/// Emits one operand of a collective, or a local conversion.
class CollectiveEmitter {
public:
  CollectiveEmitter(FunctionEmitter &emitter, mlir::Operation *op, unsigned i)
      : emitter(emitter), out(emitter.out()), op(op), index(i), input(op->getOperand(i)),
        result(op->getResult(i)), from(mlir::cast<ir::NamedTensorType>(input.getType())),
        to(mlir::cast<ir::NamedTensorType>(result.getType())),
        axes(op->getAttrOfType<mlir::ArrayAttr>("axes")) {}

  /// Emits the code before the call and returns the call's operand.
  mlir::FailureOr<CollectiveOperand> gather();
  mlir::FailureOr<CollectiveOperand> scatter();
  mlir::FailureOr<CollectiveOperand> reduce();
  mlir::FailureOr<CollectiveOperand> allToAll();
  mlir::FailureOr<CollectiveOperand> permute();
  /// Flat storage of stacked rows: one call per row.
  bool hasRows() const;
  mlir::LogicalResult gatherRows();
  mlir::LogicalResult scatterRows();
  mlir::LogicalResult localSlice();
  mlir::LogicalResult makePartial();
  /// The call up to its operands: `allGather(ctx, over<mesh::tp>(), DType::F32`.
  std::string start();

private:
  /// The dimension with more axes in `a` than in `b`; -1 if only flat axes differ.
  static int64_t getSplitDim(ir::NamedTensorType a, ir::NamedTensorType b);
  Blocks getBlocks(ir::NamedTensorType split, int64_t dim);
  /// Whether the moved axis, which is then alone, shards a dimension of `split` in head-tail order.
  bool isHeadTail(ir::NamedTensorType split);
  std::string getReduction();
  mlir::LogicalResult sliceFlat();
  ir::NamedTensorType getFlat() const {
    return from.getShardingOrReplicated().isFlat() ? from : to;
  }
  /// The elements of a row of flat storage: gathered, and of this rank's shard.
  void getRow(SizeExpr &rows, SizeExpr &whole, SizeExpr &shard);
  /// Scratch for a padded row; empty if the value's allocation has room for the padding.
  std::string getPadded();
  void padRow(const std::string &source, const std::string &padded, const SizeExpr &whole,
              const SizeExpr &shard);
  /// Opens a loop over the rows of flat storage and returns its variable; empty for a single row.
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
