// Sums into elements selected by an integer tensor.

#include "compiler/emission/FunctionEmitter.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

/// The union of the dimensions of updates and indices, with those that the result lacks first.
static SmallVector<IndexDim> getScatterSpace(FunctionEmitter &emitter, ScatterOp op) {
  Access result = makeAccess("", emitter.getSpace(op.getResult()));
  SmallVector<IndexDim> summed, parallel;
  llvm::StringSet<> seen;
  for (Value operand : {op.getUpdates(), op.getIndices()})
    for (const IndexDim &dim : emitter.getSpace(operand))
      if (seen.insert(dim.key).second)
        (result.strides.count(dim.key) ? parallel : summed).push_back(dim);
  llvm::append_range(summed, parallel);
  return summed;
}

namespace {

/// result[..., at, ...] += updates, such that no two threads write one element and sums have a
/// fixed order. Indices are grouped by the row of the result that they select. A row consists of
/// all elements that differ only in dimensions that the indices lack (its columns). The terms of an
/// element are then summed at once, in blocks. Few terms are added directly.
class Scatter {
public:
  Scatter(FunctionEmitter &emitter, ScatterOp op);
  void emit(bool isCuda);

private:
  void emitTerms(bool isCuda);
  void emitGrouping();
  void emitRows();
  void emitRowsOnDevice();
  void splitIndices(const std::string &number, ArrayRef<Loop> known);
  std::string getElement();
  Loop getAlong() { return {{along}, size, "at"}; }

  /// The row of the rank's table that an index selects; out of range for rows of other ranks.
  std::string getSelectedRow(ArrayRef<Loop> loops);

  FunctionEmitter &emitter;
  Writer &out;
  NamedTensorType table;
  int64_t dim; ///< the index of `along` in the result
  Access updates, indexAccess, result;
  SmallVector<Loop> loops;
  /// Loops of the indices; loops of dimensions that indices and result share; loops of the columns
  /// of the result; loops of dimensions of the updates alone.
  SmallVector<Loop> indices, parallel, columns, others;
  bool hasFewTerms;
  std::string along; ///< the dimension of the result that the indices select
  std::string type;  ///< the C++ type of the sums
  std::string order; ///< emitted variable: the indices, group by group; a group selects one row
  std::string ends;  ///< emitted variable: the end of each group in `order`
  SizeExpr size, stride, work;
};

} // namespace

Scatter::Scatter(FunctionEmitter &emitter, ScatterOp op)
    : emitter(emitter), out(emitter.out()), table(op.getResult().getType()),
      dim(table.findDimIndex(op.getAlongAttr())), updates(emitter.getAccess(op.getUpdates())),
      indexAccess(emitter.getAccess(op.getIndices())), result(emitter.getAccess(op.getResult())),
      loops(makeLoops(getScatterSpace(emitter, op), {&updates, &indexAccess, &result})),
      hasFewTerms(op.hasFewTerms()), along(op.getAlong().str()),
      work(emitter.sizes().getCount(op.getUpdates().getType())) {
  (void)emitter.getLocalIndex(table, dim, ""); // declares variables before the loops
  size = emitter.sizes().getDims(table)[dim].size;
  stride = result.strides.lookup(along);
  type = getRegisterType(table.getElementType());
  nameLoops(loops);
  for (const Loop &loop : loops) {
    bool isIndex = indexAccess.strides.count(loop.getKey()),
         isParallel = result.strides.count(loop.getKey());
    (isIndex ? indices : isParallel ? columns : others).push_back(loop);
    if (isIndex && isParallel)
      parallel.push_back(loop);
  }
  if (hasFewTerms)
    return;
  Type integer = IntegerType::get(op.getContext(), 64);
  order = emitter.names().pick("order");
  ends = emitter.names().pick("ends");
  out.line("int64_t *" + order + " = " + emitter.getScratch(op, 0, integer) + ", *" + ends + " = " +
           emitter.getScratch(op, 1, integer) + ";");
}

std::string Scatter::getSelectedRow(ArrayRef<Loop> loops) {
  return emitter.getLocalIndex(table, dim, emission::getElement(indexAccess, loops));
}

/// The element of the result for the indices of the loops and `at`.
std::string Scatter::getElement() {
  return result.pointer + "[" + getOffset(result, loops) + " + " + scale("at", stride) + "]";
}

/// Threads divide all dimensions of the result except `along`.
void Scatter::emitTerms(bool isCuda) {
  SmallVector<Loop> shared, summed;
  for (const Loop &loop : loops)
    (result.strides.count(loop.getKey()) ? shared : summed).push_back(loop);
  if (isCuda) {
    openKernel(out, shared);
  } else {
    emitParallel(out, shared.size(), work);
    openScope(out, shared);
  }
  openLoops(out, summed);
  out.line("const int64_t at = " + getSelectedRow(loops) + ";");
  out.line("if (at >= 0 && at < " + size.str() + ")");
  out.line("  " + getElement() + " += " + getLoaded(updates, loops) + ";");
  closeLoops(out, summed);
  if (isCuda)
    closeKernel(out);
  else
    closeScope(out, shared);
}

/// The index of the row, from the common loops of indices and result, and `at`.
static std::string getRowIndex(ArrayRef<Loop> parallel, const SizeExpr &size) {
  std::string row = "at";
  SizeExpr below = size;
  for (const Loop &loop : llvm::reverse(parallel)) {
    row = scale(loop.variable, below) + " + " + row;
    below = below * loop.size;
  }
  return row;
}

static SizeExpr getCount(ArrayRef<Loop> loops) {
  SizeExpr count;
  for (const Loop &loop : loops)
    count = count * loop.size;
  return count;
}

void Scatter::emitGrouping() {
  std::string number = indices.size() == 1 ? indices[0].variable : "index";
  out.open("tm::groupByRow(ctx, " + ends + ", " + (getCount(parallel) * size).str() + ", " + order +
           ", " + getCount(indices).str() + ", [=] TM_LAMBDA(int64_t " + number + ") -> int64_t");
  splitIndices(number, {});
  out.line("const int64_t at = " + getSelectedRow(indices) + ";");
  out.line("return at >= 0 && at < " + size.str() + " ? " + getRowIndex(parallel, size) + " : -1;");
  out.close(");");
}

/// Computes the index loops, except known ones, from the number in an expression.
void Scatter::splitIndices(const std::string &number, ArrayRef<Loop> known) {
  std::string name = indices.size() == 1 ? indices[0].variable : "index";
  if (number != name)
    out.line("const int64_t " + name + " = " + number + ";");
  if (indices.size() != 1)
    splitIndex(out, indices, known);
}

/// Threads divide the columns in blocks of the innermost ones, since most terms may belong to one
/// row.
void Scatter::emitRows() {
  SmallVector<Loop> shared = columns;
  // Without loops over columns, the result has one column.
  Loop last = columns.empty() ? Loop{{}, SizeExpr(), "column"} : shared.pop_back_val();
  std::string inner = last.variable, start = inner + "0";
  emitParallel(out, shared.size() + 1 + parallel.size(), work);
  openLoops(out, shared);
  out.open("for (int64_t " + start + " = 0; " + start + " < " + last.size.str() + "; " + start +
           " += " + kSumColumns + ")");
  if (!columns.empty())
    for (Loop &loop : loops)
      if (loop.getKey() == last.getKey())
        loop.variable = "(" + start + " + " + inner + ")";
  openLoops(out, parallel);
  openLoops(out, getAlong());
  out.line("const int64_t row = " + getRowIndex(parallel, size) + ", begin = tm::groupBegin(" +
           ends + ", row);");
  out.line("if (begin == " + ends + "[row])");
  out.line("  continue;");
  out.line("const int64_t width = tm::min(" + last.size.str() + " - " + start + ", int64_t(" +
           kSumColumns + "));");
  out.line("tm::ColumnSums<" + type + "> total(width);");
  openLoops(out, others);
  out.open("total.add(" + ends + "[row] - begin, [&](int64_t p, int64_t " + inner + ")");
  splitIndices(order + "[begin + p]", parallel);
  out.line("return " + getLoaded(updates, loops) + ";");
  out.close(");");
  closeLoops(out, others);
  out.line("#pragma omp simd");
  out.line("for (int64_t " + inner + " = 0; " + inner + " < width; ++" + inner + ")");
  out.line("  " + getElement() + " += total[" + inner + "];");
  closeLoops(out, getAlong());
  closeLoops(out, parallel);
  out.close();
  closeLoops(out, shared);
}

/// One thread per element.
void Scatter::emitRowsOnDevice() {
  SmallVector<Loop> shared = parallel;
  shared.push_back(getAlong());
  llvm::append_range(shared, columns);
  openKernel(out, shared);
  out.line("const int64_t row = " + getRowIndex(parallel, size) + ";");
  out.line("if (tm::groupBegin(" + ends + ", row) == " + ends + "[row])");
  out.line("  return;");
  out.line("tm::Sum<" + type + "> total;");
  out.open("for (int64_t p = tm::groupBegin(" + ends + ", row); p < " + ends + "[row]; ++p)");
  splitIndices(order + "[p]", parallel);
  openLoops(out, others);
  out.line("total.add(" + getLoaded(updates, loops) + ");");
  closeLoops(out, others);
  out.close();
  out.line(getElement() + " += " + type + "(total.get());");
  closeKernel(out);
}

void Scatter::emit(bool isCuda) {
  if (hasFewTerms)
    return emitTerms(isCuda);
  emitGrouping();
  if (isCuda)
    emitRowsOnDevice();
  else
    emitRows();
}

/// Sets the result to the initial values of the sums: zeros or the tensor `into`.
static void emitInitialValues(FunctionEmitter &emitter, ScatterOp op) {
  NamedTensorType type = op.getResult().getType();
  if (op.getInto())
    emitAccumulator(emitter, op);
  else
    emitter.out().line("tm::fill(ctx, " + emitter.getPointer(op.getResult()) + ", " +
                       emitter.sizes().getCount(type).str() + ", " +
                       getElementType(type.getElementType()) + "(0));");
}

LogicalResult emission::emitScatter(FunctionEmitter &emitter, ScatterOp op) {
  if (op.isOneHot())
    return emitRows(emitter, op);
  NamedTensorType type = op.getResult().getType();
  if (type.getElementType().isBF16())
    return op.emitError("cannot emit sums of many updates in bf16: sum in f32 and cast");
  Scatter scatter(emitter, op);
  emitInitialValues(emitter, op);
  scatter.emit(emitter.isCuda());
  return success();
}
