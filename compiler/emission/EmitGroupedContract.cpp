// Emits grouped contractions: products of rows, each with the element of a table (such as an
// expert) that an index selects.

#include "compiler/emission/FunctionEmitter.h"

#include "base/kernels/GroupedRows.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

namespace {

/// Rows are grouped by the element of the table that they select. On CPUs, blocks of the rows of an
/// element are packed, and each block is one matrix product. On devices, one thread computes one
/// element of the result. Sums have an order that no number of threads changes.
class GroupedContract {
public:
  GroupedContract(FunctionEmitter &emitter, GroupedContractOp op);
  void emitForThreads();
  void emitForDevice();

private:
  SmallVector<IndexDim> getSpace(ArrayRef<DimAttr> dims, ValueRange values);
  void emitGrouping();
  void emitSelection();
  void emitRow(const std::string &position);
  void emitStartOfRows();
  void emitGroupLoop(const std::string &position, const std::string &advance);
  void emitBlock();
  void emitCopy(const Access &rows, const std::string &block, ArrayRef<IndexDim> dims,
                bool toBlock);
  void emitProduct();
  void emitRowsOnDevice();
  void emitTableOnDevice();
  void emitSum(ArrayRef<Loop> loops);
  std::string getGroupIndex();

  FunctionEmitter &emitter;
  Writer &out;
  GroupedContractOp op;
  bool readsTable; ///< the table is an operand
  NamedTensorType tableType;
  std::string type;                  ///< the C++ type of the sums
  Access lhs, other, indices, table; ///< `other`: the rows that are not `lhs`
  /// The dimensions of a row of `lhs`, and of a row of `other`.
  SmallVector<IndexDim> left, right;
  /// The loops over the rows. Those of them over dimensions of the table are `parallel`, those over
  /// dimensions that `other` lacks are `summed`. The latter are the innermost ones.
  SmallVector<Loop> rows, parallel, summed;
  Loop along; ///< over the elements of the table
  SizeExpr numRows, numGroups;
  // Names of emitted variables. The rows that select one element of the table are a group.
  std::string order, ends;           ///< the rows, group by group; the end of each group in `order`
  std::string leftBlock, rightBlock; ///< packed rows of `lhs` and of `other`
  std::string count, first;   ///< number of packed rows; position of the first one in `order`
  std::string group, element; ///< index of a group; pointer to its element of the table
};

} // namespace

static SizeExpr getCount(ArrayRef<Loop> loops) {
  SizeExpr count;
  for (const Loop &loop : loops)
    count = count * loop.size;
  return count;
}

static SizeExpr getCount(ArrayRef<IndexDim> dims) {
  SizeExpr count;
  for (const IndexDim &dim : dims)
    count = count * dim.size;
  return count;
}

/// The index space of `dims`, each with its local size in the first of `values` that has it.
SmallVector<IndexDim> GroupedContract::getSpace(ArrayRef<DimAttr> dims, ValueRange values) {
  SmallVector<IndexDim> space;
  for (DimAttr dim : dims)
    for (Value value : values) {
      SmallVector<IndexDim> own = emitter.getSpace(value);
      auto found = llvm::find_if(
          own, [&](const IndexDim &index) { return index.key == dim.getName().getValue(); });
      if (found == own.end())
        continue;
      space.push_back(*found);
      break;
    }
  return space;
}

GroupedContract::GroupedContract(FunctionEmitter &emitter, GroupedContractOp op)
    : emitter(emitter), out(emitter.out()), op(op), readsTable(op.getTable() == op.getRhs()),
      tableType(cast<NamedTensorType>(op.getTable().getType())),
      type(getRegisterType(op.getResult().getType().getElementType())),
      lhs(emitter.getAccess(op.getLhs())), other(emitter.getAccess(op.getOtherRows())),
      indices(emitter.getAccess(op.getIndices())), table(emitter.getAccess(op.getTable())) {
  left = getSpace(op.getTableDims(op.getLhs().getType()), op.getLhs());
  right = getSpace(op.getTableDims(cast<NamedTensorType>(op.getOtherRows().getType())),
                   op.getOtherRows());
  rows = makeLoops(getSpace(op.getRowDims(), {op.getOtherRows(), op.getIndices(), op.getLhs()}),
                   {&lhs, &other, &indices, &table});
  nameLoops(rows);
  int64_t dim = tableType.findDimIndex(op.getAlongAttr());
  (void)emitter.getLocalIndex(tableType, dim, ""); // declares variables before the loops
  along = {{op.getAlong().str()}, emitter.sizes().getDims(tableType)[dim].size, "at"};
  for (const Loop &row : rows) {
    if (table.strides.count(row.getKey()))
      parallel.push_back(row);
    if (!other.strides.count(row.getKey()))
      summed.push_back(row);
  }
  numRows = getCount(rows);
  numGroups = getCount(parallel) * along.size;
  for (auto [name, wanted] :
       {std::pair(&order, "order"), std::pair(&ends, "ends"), std::pair(&leftBlock, "left"),
        std::pair(&rightBlock, "right"), std::pair(&count, "count"), std::pair(&first, "first"),
        std::pair(&group, "group"), std::pair(&element, "element")})
    *name = emitter.names().pick(wanted);
}

/// Declares `at`, the element of the rank's table that the row selects. It is out of range if the
/// element belongs to another rank.
void GroupedContract::emitSelection() {
  out.line("const int64_t at = " +
           emitter.getLocalIndex(tableType, tableType.findDimIndex(op.getAlongAttr()),
                                 emission::getElement(indices, rows)) +
           ";");
}

/// The index of the group, from the loops that rows and table share, and `at`.
std::string GroupedContract::getGroupIndex() {
  std::string group = "at";
  SizeExpr below = along.size;
  for (const Loop &loop : llvm::reverse(parallel)) {
    group = scale(loop.variable, below) + " + " + group;
    below = below * loop.size;
  }
  return group;
}

/// Computes the loop variables of a row from its position in the order.
void GroupedContract::emitRow(const std::string &position) {
  out.line("const int64_t " + (rows.size() == 1 ? rows[0].variable : "index") + " = " + order +
           "[" + position + "];");
  if (rows.size() > 1)
    splitIndex(out, rows, parallel);
}

void GroupedContract::emitGrouping() {
  Type integer = IntegerType::get(op.getContext(), 64);
  out.line("int64_t *" + order + " = " + emitter.getScratch(op, 0, integer) + ", *" + ends + " = " +
           emitter.getScratch(op, 1, integer) + ";");
  std::string number = rows.size() == 1 ? rows[0].variable : "index";
  out.open("tm::groupByRow(ctx, " + ends + ", " + numGroups.str() + ", " + order + ", " +
           numRows.str() + ", [=] TM_LAMBDA(int64_t " + number + ") -> int64_t");
  if (rows.size() > 1)
    splitIndex(out, rows);
  emitSelection();
  out.line("return at >= 0 && at < " + along.size.str() + " ? " + getGroupIndex() + " : -1;");
  out.close(");");
}

/// Opens a loop over the packed rows that belong to one row of the result, if `p` is the first of
/// them. They are adjacent, and one thread adds all of them.
void GroupedContract::emitStartOfRows() {
  auto getRow = [&](const std::string &p) {
    return order + "[" + first + " + " + p + "] / " + getCount(summed).atom();
  };
  out.line("const int64_t row = " + getRow("p") + ";");
  out.line("if (p > 0 && " + getRow("p - 1") + " == row)");
  out.line("  return;");
  out.open("for (; p < " + count + " && " + getRow("p") + " == row; ++p)");
}

/// Copies a block of rows from or to a tensor.
void GroupedContract::emitCopy(const Access &tensor, const std::string &block,
                               ArrayRef<IndexDim> dims, bool toBlock) {
  Access packed = makeAccess(block, dims);
  SmallVector<Loop> loops = makeLoops(dims, {&tensor, &packed});
  nameLoops(loops, static_cast<int>(rows.size()));
  const bool adds = !toBlock && !summed.empty();
  out.open("tm::forEachRow(" + count + ", " + getCount(dims).str() + ", [&](int64_t p)");
  if (adds)
    emitStartOfRows();
  emitRow(first + " + p");
  openLoops(out, loops);
  SmallVector<Loop> all = rows;
  llvm::append_range(all, loops);
  std::string offset = getOffset(packed, loops), start = scale("p", getCount(dims));
  std::string inBlock = block + "[" + (offset == "0" ? start : start + " + " + offset) + "]";
  std::string inTensor = tensor.pointer + "[" + getOffset(tensor, all) + "]";
  if (toBlock)
    out.line(inBlock + " = " + inTensor + ";");
  else
    out.line(inTensor + (op.getInto() || adds ? " += " : " = ") + inBlock + ";");
  closeLoops(out, loops);
  if (adds)
    out.close();
  out.close(");");
}

/// Multiplies a block with an element, or adds the product of two blocks to an element.
void GroupedContract::emitProduct() {
  auto getBlock = [&](const std::string &pointer, ArrayRef<IndexDim> dims) {
    SmallVector<IndexDim> space{{"rows of a block", SizeFactor{count, 0}}};
    llvm::append_range(space, dims);
    return GemmOperand{makeAccess(pointer, space), space};
  };
  SmallVector<IndexDim> dims = left;
  llvm::append_range(dims, right);
  GemmOperand matrix{{element, {}}, {}};
  for (const IndexDim &dim : emitter.getSpace(op.getTable()))
    if (llvm::any_of(dims, [&](const IndexDim &own) { return own.key == dim.key; })) {
      matrix.dims.push_back(dim);
      matrix.access.strides[dim.key] = table.strides.lookup(dim.key);
    }
  GemmOperand a = getBlock(leftBlock, left), b = getBlock(rightBlock, right);
  if (readsTable)
    emission::emitProduct(emitter, a, matrix, b, type, /*accumulates=*/false);
  else
    emission::emitProduct(emitter, a, b, matrix, type, /*accumulates=*/true);
}

/// Opens a loop over the positions of the group in the order.
void GroupedContract::emitGroupLoop(const std::string &position, const std::string &advance) {
  out.open("for (int64_t " + position + " = tm::groupBegin(" + ends + ", " + group + "); " +
           position + " < " + ends + "[" + group + "]; " + position + advance + ")");
}

void GroupedContract::emitBlock() {
  out.line("const int64_t " + count + " = tm::min(" + ends + "[" + group + "] - " + first +
           ", int64_t(" + std::to_string(kGroupedRows) + "));");
  emitCopy(lhs, leftBlock, left, /*toBlock=*/true);
  if (!readsTable)
    emitCopy(other, rightBlock, right, /*toBlock=*/true);
  emitProduct();
  if (readsTable)
    emitCopy(other, rightBlock, right, /*toBlock=*/false);
}

void GroupedContract::emitForThreads() {
  emitGrouping();
  out.line("{");
  out.indent();
  auto declareBlock = [&](const std::string &name, unsigned scratch, Value like) {
    Type element = cast<NamedTensorType>(like.getType()).getElementType();
    out.line(getElementType(element) + " *" + name + " = " +
             emitter.getScratch(op, scratch, element) + ";");
  };
  declareBlock(leftBlock, 2, op.getLhs());
  declareBlock(rightBlock, 3, op.getOtherRows());
  openLoops(out, parallel);
  openLoops(out, along);
  SmallVector<Loop> selected = parallel;
  selected.push_back(along);
  out.line("const int64_t " + group + " = " + getGroupIndex() + ";");
  out.line("auto *" + element + " = " + table.pointer + " + " + getOffset(table, selected) + ";");
  emitGroupLoop(first, " += " + std::to_string(kGroupedRows));
  emitBlock();
  out.close();
  closeLoops(out, along);
  closeLoops(out, parallel);
  out.close();
}

/// Adds the product at the indices of `loops` to `total`.
void GroupedContract::emitSum(ArrayRef<Loop> loops) {
  const Access &rhs = readsTable ? table : other;
  out.line("total.add(" + getLoaded(lhs, loops) + " * " + getLoaded(rhs, loops) + ");");
}

void GroupedContract::emitRowsOnDevice() {
  SmallVector<Loop> columns = makeLoops(right, {&other, &table}),
                    terms = makeLoops(left, {&lhs, &table});
  nameLoops(columns, static_cast<int>(rows.size()));
  SmallVector<Loop> element = rows;
  llvm::erase_if(element, [&](const Loop &row) { return !other.strides.count(row.getKey()); });
  llvm::append_range(element, columns);
  nameLoops(terms, static_cast<int>(rows.size() + columns.size()));
  openKernel(out, element);
  out.line("tm::Sum<" + type + "> total;");
  openLoops(out, summed);
  emitSelection();
  out.open("if (at >= 0 && at < " + along.size.str() + ")");
  openLoops(out, terms);
  SmallVector<Loop> all = element;
  llvm::append_range(all, summed);
  llvm::append_range(all, terms);
  all.push_back(along);
  emitSum(all);
  closeLoops(out, terms);
  out.close();
  closeLoops(out, summed);
  out.line(getElement(other, element) + (op.getInto() ? " += " : " = ") + type + "(total.get());");
  closeKernel(out);
}

void GroupedContract::emitTableOnDevice() {
  SmallVector<Loop> columns = makeLoops(left, {&lhs, &table});
  llvm::append_range(columns, makeLoops(right, {&other, &table}));
  nameLoops(columns, static_cast<int>(rows.size()));
  SmallVector<Loop> element = parallel;
  element.push_back(along);
  llvm::append_range(element, columns);
  openKernel(out, element);
  out.line("const int64_t " + group + " = " + getGroupIndex() + ";");
  out.line("tm::Sum<" + type + "> total;");
  emitGroupLoop(first, " += 1");
  emitRow(first);
  SmallVector<Loop> all = rows;
  llvm::append_range(all, columns);
  emitSum(all);
  out.close();
  out.line(getElement(table, element) + (op.getInto() ? " += " : " = ") + type + "(total.get());");
  closeKernel(out);
}

void GroupedContract::emitForDevice() {
  if (readsTable)
    return emitRowsOnDevice();
  emitGrouping();
  emitTableOnDevice();
}

LogicalResult emission::emitGroupedContract(FunctionEmitter &emitter, GroupedContractOp op) {
  NamedTensorType type = op.getResult().getType();
  if (type.getElementType().isBF16() && op.getTable() == op.getResult())
    return op.emitError("cannot emit sums of many rows in bf16: sum in f32 and cast");
  if (op.getInto())
    emitAccumulator(emitter, op);
  else if (!emitter.isCuda())
    emitter.out().line("tm::fill(ctx, " + emitter.getPointer(op.getResult()) + ", " +
                       emitter.sizes().getCount(type).str() + ", " +
                       getElementType(type.getElementType()) + "(0));");
  GroupedContract contract(emitter, op);
  if (emitter.isCuda())
    contract.emitForDevice();
  else
    contract.emitForThreads();
  return success();
}
