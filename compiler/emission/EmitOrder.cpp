// Emits operations that depend on an order along a dimension.

#include "compiler/emission/FunctionEmitter.h"
#include "compiler/emission/Sums.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

/// Runs `emitRow` for each index of `rows`, one thread each.
static void emitForRows(FunctionEmitter &emitter, MutableArrayRef<Loop> rows, const SizeExpr &work,
                        function_ref<void()> emitRow) {
  Writer &out = emitter.out();
  nameLoops(rows);
  if (emitter.isCuda()) {
    openKernel(out, rows);
  } else {
    emitParallel(out, rows.size(), work);
    openScope(out, rows);
  }
  emitRow();
  if (emitter.isCuda())
    closeKernel(out);
  else
    closeScope(out, rows);
}

/// The dimensions of `value` without `along`; `size` receives the size of `along`.
static SmallVector<IndexDim> getRowSpace(FunctionEmitter &emitter, Value value, StringRef along,
                                         SizeExpr &size) {
  SmallVector<IndexDim> space;
  for (IndexDim &dim : emitter.getSpace(value))
    if (dim.key == along)
      size = dim.size;
    else
      space.push_back(dim);
  return space;
}

/// The pointer to the row at the indices of the loops `rows`.
static std::string getRowPointer(const Access &access, ArrayRef<Loop> rows) {
  std::string offset = getOffset(access, rows);
  return access.pointer + (offset == "0" ? "" : " + " + offset);
}

LogicalResult emission::emitTopK(FunctionEmitter &emitter, TopKOp op) {
  Access from = emitter.getAccess(op.getInput()), values = emitter.getAccess(op.getValues()),
         indices = emitter.getAccess(op.getIndices());
  NamedTensorType input = op.getInput().getType(), chosen = op.getValues().getType();
  std::string name = chosen.getDims()[input.findDimIndex(op.getAlongAttr())].getName().str();
  SizeExpr n, k;
  SmallVector<IndexDim> space = getRowSpace(emitter, op.getInput(), op.getAlong(), n);
  getRowSpace(emitter, op.getValues(), name, k);
  SmallVector<Loop> rows = makeLoops(space, {&from, &values, &indices});
  emitForRows(emitter, rows, emitter.sizes().getCount(input), [&] {
    emitter.out().line("tm::topK(" + getRowPointer(from, rows) + ", " +
                       from.strides.lookup(op.getAlong()).str() + ", " + n.str() + ", " +
                       getRowPointer(values, rows) + ", " + getRowPointer(indices, rows) + ", " +
                       values.strides.lookup(name).str() + ", " + k.str() + ");");
  });
  return success();
}

LogicalResult emission::emitCumulativeSum(FunctionEmitter &emitter, CumulativeSumOp op) {
  Access from = emitter.getAccess(op.getInput()), to = emitter.getAccess(op.getResult());
  NamedTensorType type = op.getInput().getType();
  SizeExpr size;
  SmallVector<IndexDim> space = getRowSpace(emitter, op.getInput(), op.getAlong(), size);
  SmallVector<Loop> rows = makeLoops(space, {&from, &to});
  std::string at = emitter.names().pick(op.getAlong().str() + "_at");
  Loop along{{op.getAlong().str()}, size, at};
  if (op.getReverse())
    along.variable = "(" + size.str() + " - 1 - " + at + ")";
  Writer &out = emitter.out();
  emitForRows(emitter, rows, emitter.sizes().getCount(type), [&] {
    SmallVector<Loop> all = rows;
    all.push_back(along);
    // Floats are summed in double. Its errors are negligible beside the rounding of each result.
    std::string sumType = getRegisterType(type.getElementType());
    out.line((isRounded(sumType) ? "double" : sumType) + " total = 0;");
    openLoops(out, Loop{along.keys, size, at});
    out.line("total += " + getLoaded(from, all) + ";");
    out.line(getElement(to, all) + " = " + sumType + "(total);");
    closeLoops(out, along);
  });
  return success();
}

/// One thread counts one index of one row, so that a device has more threads than rows and no
/// counters in memory.
LogicalResult emission::emitCumulativeCount(FunctionEmitter &emitter, CumulativeCountOp op) {
  Access from = emitter.getAccess(op.getInput()), to = emitter.getAccess(op.getResult());
  NamedTensorType type = op.getInput().getType();
  SmallVector<IndexDim> rowSpace, counted;
  for (IndexDim &dim : emitter.getSpace(op.getInput()))
    if (llvm::none_of(op.getOver().getAsRange<StringAttr>(),
                      [&](StringAttr name) { return name.getValue() == dim.key; }))
      rowSpace.push_back(dim);
  for (auto name : op.getOver().getAsRange<StringAttr>())
    for (IndexDim &dim : emitter.getSpace(op.getInput()))
      if (dim.key == name.getValue())
        counted.push_back(dim);
  SmallVector<Loop> rows = makeLoops(rowSpace, {&from, &to}),
                    order = makeLoops(counted, {&from, &to});
  const auto size = static_cast<int64_t>(op.getSize());
  const SizeExpr numIndices(SizeFactor{std::to_string(size), size});
  rows.push_back({{"an index"}, numIndices, ""});
  nameLoops(order, static_cast<int>(rows.size()));
  Writer &out = emitter.out();
  SizeExpr count = emitter.sizes().getCount(type);
  out.line("tm::fill(ctx, " + to.pointer + ", " + count.str() + ", int64_t(0));");
  emitForRows(emitter, rows, count * numIndices, [&] {
    SmallVector<Loop> all = rows;
    llvm::append_range(all, order);
    out.line("int64_t count = 0;");
    openLoops(out, order);
    out.line("if (" + getLoaded(from, all) + " == " + rows.back().variable + ")");
    out.line("  " + getElement(to, all) + " = count++;");
    closeLoops(out, order);
  });
  return success();
}
