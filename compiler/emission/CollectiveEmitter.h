// Emission of one collective operand.
//
// Emits the arguments of one operand of a collective or local conversion, and the code around the
// call: padding of flat storage, and copies.
#pragma once

#include "compiler/emission/FunctionEmitter.h"

namespace titan::emission {

/// The shape [outer, sharded, inner] of the shard that a collective moves. `sharded` is the local
/// size of the dimension whose axes change (of flat storage: of a chunk); `outer` and `inner` are
/// the products of the sizes before and after it.
struct TransferShape {
  SizeExpr outer, inner;
  SizeExpr sharded;
};

/// One operand of a collective call.
struct CollectiveOperand {
  std::string in, out; ///< pointer expressions
  TransferShape transfer;
  std::string after;              ///< a line to emit after the call
  std::string allToAllShape = {}; ///< arguments of an all-to-all, instead of `transfer`
  bool isHeadTail = false;        ///< the shards are in head-tail order
};

/// `in, out, outer, sharded, inner`, and the order of the shards unless it is block order.
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
  /// The call up to its operands: `allGather(ctx, over<mesh::tp_>(), DType::F32`.
  std::string getCallHead();

private:
  TransferShape getTransferShape(ir::NamedTensorType split, int64_t dim);
  /// Whether the moved axis, which is then alone, shards a dimension of `split` in head-tail order.
  bool isHeadTail(ir::NamedTensorType split);
  std::string getReduction();
  mlir::LogicalResult sliceFlat();
  /// The type of operand and result that has flat storage.
  ir::NamedTensorType getFlat() const {
    return from.getShardingOrReplicated().isFlat() ? from : to;
  }
  /// Sets `rows` to the number of rows of flat storage, `whole` to the number of elements of a
  /// gathered row, and `shard` to that of this rank's shard of a row.
  void getRowSizes(SizeExpr &rows, SizeExpr &whole, SizeExpr &shard);
  /// Scratch for a padded row; empty if the value's allocation is large enough for
  /// the padding.
  std::string getPaddedScratch();
  /// Fills the padding of a row with 0; first copies the row to `padded`, unless that is empty.
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
