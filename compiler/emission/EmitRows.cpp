// Emits elementwise operations, alone and fused.

#include "compiler/emission/Rows.h"

#include "dialects/titan/Support/RowSchedule.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

/// The rows of a single operation: all merged loops except the innermost. An operation on
/// contiguous memory has no rows.
static SmallVector<std::string> chooseRows(FunctionEmitter &emitter, Operation *op) {
  SmallVector<Access> accesses;
  for (Value operand : op->getOperands())
    accesses.push_back(makeAccess("", emitter.getSpace(operand)));
  SmallVector<const Access *> all;
  for (const Access &access : accesses)
    all.push_back(&access);
  Access whole = makeAccess("", emitter.getSpace(op->getResult(0)));
  all.push_back(&whole);
  SmallVector<Loop> loops = makeLoops(emitter.getSpace(op->getResult(0)), all);
  SmallVector<std::string> rows;
  if (!loops.empty())
    for (const Loop &loop : ArrayRef(loops).drop_back())
      llvm::append_range(rows, loop.keys);
  return rows;
}

LogicalResult emission::emitRows(FunctionEmitter &emitter, Operation *op) {
  SmallVector<std::string> rows;
  if (op->hasTrait<Elementwise>() || isa<GatherOp>(op)) {
    rows = chooseRows(emitter, op);
  } else {
    SmallVector<IndexDim> space = emitter.getSpace(op->getResult(0));
    for (const IndexDim &dim : ArrayRef(space).drop_back(space.empty() ? 0 : 1))
      rows.push_back(dim.key);
  }
  RowNest nest(emitter, {op}, rows);
  for (Value result : op->getResults())
    nest.addOutput(result, result);
  return nest.emit();
}

LogicalResult emission::emitFused(FunctionEmitter &emitter, FusedOp op) {
  SmallVector<Operation *> ops;
  for (Operation &inner : op.getBody().front().without_terminator())
    ops.push_back(&inner);
  RowNest nest(emitter, ops, fusion::getRows(op));
  for (auto [inner, result] : llvm::zip_equal(op.getYield().getValues(), op.getResults()))
    nest.addOutput(inner, result);
  std::string text = nest.build();
  if (emitter.watchesNumbers() && !emitter.isCuda())
    emitter.out().raw(RowNest(emitter, ops, fusion::getRows(op), RowNest::Purpose::Watch).build());
  emitter.out().raw(text);
  return success();
}
