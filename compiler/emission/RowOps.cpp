// Emits the statements of a row.

#include "compiler/emission/Rows.h"
#include "compiler/emission/ScalarSteps.h"
#include "dialects/titan/Support/Views.h"

#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Transforms/Memory/Planner.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

std::string RowNest::getIndex(StringRef key) {
  return getOffset(indexAccesses[key], current);
}

std::string RowNest::getGlobalIndex(Value value) {
  auto type = cast<NamedTensorType>(value.getType());
  Access access = globalIndices[value];
  std::string starts;
  for (auto [d, dim] : llvm::enumerate(type.getDims())) {
    StringRef key = dim.getName().getValue();
    SizeExpr stride = access.strides.lookup(key);
    if (type.getShardingOrReplicated().getHeadTailAxis(d)) {
      starts += " + " + scale(emitter.getGlobalIndex(type, d, getIndex(key)), stride);
      access.strides.erase(key);
    } else if (std::string start = emitter.getShardOffset(type, d); !start.empty()) {
      starts += " + " + scale(start, stride);
    }
  }
  return getOffset(access, current) + starts;
}

std::string RowNest::getOperand(Value value) {
  if (std::string text = emitter.getInlineScalar(value); !text.empty())
    return text;
  if (auto it = expressions.find(value); it != expressions.end())
    return it->second;
  if (auto it = scalars.find(value); it != scalars.end())
    return it->second;
  return getLoaded(accesses[value], current);
}

void RowNest::store(Value value, StringRef expression) {
  if (auto it = targets.find(value); it != targets.end())
    for (const Access &target : it->second)
      stores.push_back(
          (getElement(target, current) + " = " + stripParentheses(expression) + ";").str());
}

int64_t RowNest::countStores(const Inner &inner) {
  int64_t count = 0;
  for (Operation *op : inner.ops)
    for (Value result : op->getResults()) {
      if (auto it = targets.find(result); it != targets.end())
        count += it->second.size();
      else
        count += accesses.count(result);
    }
  return count;
}

void RowNest::define(Value value, std::string expression) {
  unsigned inner = innerOf[value.getDefiningOp()];
  bool isRowScalar = current.size() == rowLoops.size() && inners[inner].space.empty();
  int64_t uses = llvm::count_if(value.getUsers(), [&](Operation *user) {
    auto it = innerOf.find(user);
    return it != innerOf.end() && it->second == inner;
  });
  bool isStored = targets.count(value) || accesses.count(value) || isRowScalar;
  // A store to bf16 rounds, so only other uses need a rounded expression.
  std::string stored = expression;
  if (isNarrow(value) && !isExact(value.getDefiningOp()))
    expression = ("float(bf16(" + stripParentheses(expression) + "))").str();
  if (!isWatch() && !isStored && uses == 1 && expression.size() < kMaxInlineLength) {
    expressions[value] = std::move(expression);
    return;
  }
  // One store may overwrite an operand of another, so all values are computed first.
  if (!isWatch() && isStored && uses == 0 && !isRowScalar && countStores(inners[inner]) == 1) {
    store(value, stored);
    if (!targets.count(value))
      stores.push_back(getElement(accesses[value], current) + " = " +
                       stripParentheses(expression).str() + ";");
    return;
  }
  std::string name = emitter.names().pick(ir::getSourceName(value) + "_at");
  text.line("const " + getType(value) + " " + name + " = " + stripParentheses(expression) + ";");
  (isRowScalar ? scalars : expressions)[value] = name;
  store(value, name);
  // Where later loops read from memory that is also the target, one store is enough.
  auto access = accesses.find(value);
  if (access != accesses.end() && !targets.count(value))
    stores.push_back(getElement(access->second, current) + " = " + name + ";");
}

void RowNest::emitOp(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ReduceOp reduce) { emitReduce(reduce); })
      .Case([&](GatherOp gather) { define(gather.getResult(), getGather(gather)); })
      .Case([&](ScatterOp scatter) { define(scatter.getResult(), getOneHot(scatter)); })
      .Case([&](PadOp pad) { define(pad.getResult(), getPad(pad)); })
      .Case([&](SliceOp slice) {
        define(slice.getResult(), getLoaded(accesses[slice.getInput()], current));
      })
      .Case([&](IotaOp iota) {
        define(iota.getResult(), getElement(emitter.getIndexAccess(iota), current));
      })
      .Case([&](ApplyOp apply) { emitApply(apply); })
      .Default([&](Operation *) { emitElementwise(op); });
}

void RowNest::emitElementwise(Operation *op) {
  SmallVector<std::string> in;
  if (isa<RandomOp>(op))
    in.push_back(getGlobalIndex(op->getResult(0)));
  for (Value operand : op->getOperands())
    in.push_back(getOperand(operand));
  auto scalar = cast<ScalarOpInterface>(op);
  define(op->getResult(0), scalar.getElementExpression(in, 0, getScalarType(op)));
  if (isWatch())
    see(op, op, getOperand(op->getResult(0)), isa<RandomOp>(op) ? ArrayRef<std::string>() : in);
}

std::string RowNest::defineLocal(Value value, StringRef expression) {
  std::string name = emitter.names().pick(ir::getSourceName(value) + "_at");
  text.line("const " + getType(value) + " " + name + " = " + stripParentheses(expression) + ";");
  return name;
}

/// Emits a statement for each step of the function, except constants and short expressions with one
/// use.
void RowNest::emitApply(ApplyOp op) {
  ScalarFunctionOp callee = op.getCallee();
  Expressions known;
  for (auto [operand, argument] :
       llvm::zip_equal(op.getInputs(), callee.getBody().getArguments())) {
    std::string expression = getOperand(operand);
    // Loads the element first, because stores of the results may overwrite it.
    known[argument] = scalars.count(operand) ? expression : defineLocal(operand, expression);
  }
  auto keep = isWatch() ? NamedSteps::All : NamedSteps::Long;
  emitSteps(
      callee, known,
      [&](Value value, StringRef expression) {
        std::string name = defineLocal(value, expression);
        if (Operation *step = value.getDefiningOp(); isWatch())
          see(op, step, name, llvm::map_to_vector(step->getOperands(), [&](Value operand) {
                return known.lookup(operand);
              }));
        return name;
      },
      keep);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), callee.getYield().getValues()))
    define(result, known.lookup(value));
}

std::string RowNest::getGather(GatherOp op) {
  auto table = op.getInput().getType();
  int64_t dim = table.findDimIndex(op.getAlongAttr());
  std::string row = emitter.getLocalIndex(table, dim, getOperand(op.getIndices()));
  std::string at = emitter.names().pick("at");
  text.line("const int64_t " + at + " = " + row + ";");
  const Access &access = accesses[op.getInput()];
  std::string size = emitter.sizes().getDims(table)[dim].size.name;
  std::string element = getLoadedAt(access, getOffset(access, current) + " + " +
                                                scale(at, access.strides.lookup(op.getAlong())));
  return "(" + at + " >= 0 && " + at + " < " + size + " ? " + element + " : " +
         getType(op.getResult()) + "(0))";
}

std::string RowNest::getOneHot(ScatterOp op) {
  auto type = op.getResult().getType();
  std::string index =
      emitter.getGlobalIndex(type, type.findDimIndex(op.getAlongAttr()), getIndex(op.getAlong()));
  return "(" + index + " == " + getOperand(op.getIndices()) + " ? " + getOperand(op.getUpdates()) +
         " : " + getType(op.getResult()) + "(0))";
}

std::string RowNest::getPad(PadOp op) {
  // The corresponding dimension of the operand may have another name.
  int64_t dim = op.getType().findDimIndex(op.getDimAttr());
  StringRef inner = op.getInput().getType().getDims()[dim].getName().getValue();
  std::string index = getIndex(op.getDim()), from = std::to_string(op.getOffset());
  std::string size = emitter.sizes().getDims(op.getInput().getType())[dim].size.name;
  Access access = accesses[op.getInput()];
  SizeExpr stride = access.strides.lookup(inner);
  access.strides.erase(inner);
  access.strides[op.getDim()] = stride;
  std::string element =
      getLoadedAt(access, getOffset(access, current) + " - " + scale(from, stride));
  return "(" + index + " >= " + from + " && " + index + " < " + from + " + " + size + " ? " +
         element + " : " + getType(op.getResult()) + "(0))";
}

// Reductions within a row

static std::string getNeutral(ReduceOp op) {
  std::string type = getType(op.getResult());
  if (op.getKind() == dist::ReductionKind::Sum)
    return type + "(0)";
  return (op.getKind() == dist::ReductionKind::Max ? "tm::lowest<" : "tm::highest<") + type + ">()";
}

SmallVector<IndexDim> RowNest::getParallelSpace(ReduceOp op) {
  SmallVector<IndexDim> parallel;
  for (IndexDim &dim : emitter.getSpace(op.getResult()))
    if (!isRow(dim.key))
      parallel.push_back(dim);
  return parallel;
}

bool RowNest::isLongSum(ReduceOp op) {
  if (op.getKind() != dist::ReductionKind::Sum || !isRounded(getType(op.getResult())))
    return false;
  SmallVector<IndexDim> parallel = getParallelSpace(op);
  SizeExpr terms;
  for (const IndexDim &dim : getInnerSpace(op))
    if (llvm::none_of(parallel, [&](const IndexDim &other) { return other.key == dim.key; }))
      terms = terms * dim.size;
  return !areFewTerms(terms);
}

/// A scalar: summed in blocks if it has many terms, by each thread of a block on a device.
void RowNest::startScalar(ReduceOp op, ArrayRef<Loop> loops) {
  std::string name = emitter.names().pick(ir::getSourceName(op.getResult()));
  std::string type = getType(op.getResult());
  scalars[op.getResult()] = name;
  bool isSum = op.getKind() == dist::ReductionKind::Sum && isRounded(type);
  if (!isSum || !(isRowKernel ? !loops.empty() : needsBlocks(loops))) {
    text.line(type + " " + name + " = " + getNeutral(op) + ";");
    return;
  }
  SumNames sum{emitter.names().pick(name + "_total"), "", type};
  if (!isRowKernel)
    sum.block = emitter.names().pick(name + "_part");
  text.line(isRowKernel ? "tm::Sum<" + type + "> " + sum.total + ";"
                        : "double " + sum.total + " = 0;");
  blockedSums[op.getResult()] = sum;
}

/// An array of sums, in the memory of the result if the sums can be computed there.
void RowNest::startBuffer(ReduceOp op) {
  auto it = targets.find(op.getResult());
  if (isLongSum(op))
    declareBuffer(op.getResult(), "double", "_total");
  else if (it != targets.end() && !isNarrow(op.getResult()))
    accesses[op.getResult()] = it->second.front();
  else
    declareBuffer(op.getResult());
  Access &access = accesses[op.getResult()];
  SmallVector<Loop> loops = makeLoops(getParallelSpace(op), {&access});
  nameLoops(loops, rowLoops.size() == 1 ? 0 : rowLoops.size());
  SmallVector<Loop> all = rowLoops;
  llvm::append_range(all, loops);
  openSums(loops);
  text.line(getElement(access, all) + " = " + getNeutral(op) + ";");
  closeSums(loops);
}

SmallVector<SumNames> RowNest::getBlockedSums(const Inner &inner) {
  SmallVector<SumNames> sums;
  if (!isRowKernel)
    for (Operation *op : inner.ops)
      if (auto it = blockedSums.find(op->getResult(0)); it != blockedSums.end())
        sums.push_back(it->second);
  return sums;
}

void RowNest::emitReduce(ReduceOp op) {
  std::string value = getOperand(op.getInput());
  if (isWatch())
    seeTerm(op, value);
  auto scalar = scalars.find(op.getResult());
  auto blocked = blockedSums.find(op.getResult());
  if (blocked != blockedSums.end() && isRowKernel) {
    text.line(blocked->second.total + ".add(" + stripParentheses(value) + ");");
    return;
  }
  std::string sum = blocked != blockedSums.end() ? blocked->second.block
                    : scalar != scalars.end()    ? scalar->second
                                                 : getElement(accesses[op.getResult()], current);
  if (op.getKind() == dist::ReductionKind::Sum)
    text.line(sum + " += " + stripParentheses(value) + ";");
  else
    text.line(sum + " = " + (op.getKind() == dist::ReductionKind::Max ? "tm::max(" : "tm::min(") +
              sum + ", " + value + ");");
}

void RowNest::finishReduce(ReduceOp op) {
  if (scalars.count(op.getResult()))
    finishScalar(op);
  else if (isLongSum(op) || isNarrow(op.getResult()))
    finishBuffer(op);
  if (isWatch())
    seeSum(op);
}

void RowNest::finishScalar(ReduceOp op) {
  const std::string &name = scalars[op.getResult()];
  StringRef kind = op.getKind() == dist::ReductionKind::Sum   ? "Plus"
                   : op.getKind() == dist::ReductionKind::Max ? "Max"
                                                              : "Min";
  auto combineBlock = [&](const std::string &value) {
    return "tm::reduceBlock<tm::" + kind.str() + ">(" + value + ")";
  };
  // Without a loop, each thread has the whole sum already.
  bool isShared = isRowKernel && llvm::any_of(getInnerSpace(op), [](const IndexDim &dim) {
                    return !dim.size.isOne();
                  });
  auto blocked = blockedSums.find(op.getResult());
  if (blocked != blockedSums.end()) {
    const SumNames &sum = blocked->second;
    std::string total = isRowKernel ? combineBlock(sum.total + ".get()") : sum.total;
    std::string value = sum.type + "(" + total + ")";
    if (isNarrow(op.getResult()))
      value = "float(bf16(" + value + "))";
    text.line("const " + sum.type + " " + name + " = " + value + ";");
  } else {
    if (isShared)
      text.line(name + " = " + combineBlock(name) + ";");
    if (isNarrow(op.getResult()) && !isExact(op))
      text.line(name + " = float(bf16(" + name + "));");
  }
  auto found = targets.find(op.getResult());
  if (found == targets.end())
    return;
  for (const Access &target : found->second)
    text.line((isRowKernel ? "if (threadIdx.x == 0) " : "") + getElement(target, rowLoops) + " = " +
              name + ";");
}

/// Stores sums from a row buffer to their targets, rounded to the element type.
void RowNest::finishBuffer(ReduceOp op) {
  Access sums = accesses[op.getResult()];
  SmallVector<Access> all;
  if (auto found = targets.find(op.getResult()); found != targets.end())
    all = found->second;
  if (isLongSum(op) && (all.empty() || isNarrow(op.getResult())))
    declareBuffer(op.getResult());
  else if (isLongSum(op))
    accesses[op.getResult()] = all.front();
  if (all.empty() || isNarrow(op.getResult()))
    all.insert(all.begin(), accesses[op.getResult()]);
  SmallVector<const Access *> accessed{&sums};
  for (const Access &access : all)
    accessed.push_back(&access);
  SmallVector<Loop> loops = makeLoops(getParallelSpace(op), accessed);
  nameLoops(loops, rowLoops.size() == 1 ? 0 : rowLoops.size());
  SmallVector<Loop> at = rowLoops;
  llvm::append_range(at, loops);
  openSums(loops);
  std::string sum = getElement(sums, at);
  if (isLongSum(op))
    sum = getType(op.getResult()) + "(" + sum + ")";
  if (isNarrow(op.getResult()))
    sum = "float(bf16(" + sum + "))";
  for (const Access &access : all)
    text.line(getElement(access, at) + " = " + sum + ";");
  closeSums(loops);
}
