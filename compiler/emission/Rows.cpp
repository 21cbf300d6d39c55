// Emits loop nests of elementwise operations.

#include "compiler/emission/Rows.h"
#include "dialects/titan/Support/Views.h"

#include "dialects/titan/Support/RowSchedule.h"
#include "dialects/titan/Transforms/Memory/Planner.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

RowNest::RowNest(FunctionEmitter &emitter, ArrayRef<Operation *> all, ArrayRef<std::string> rows,
                 Purpose purpose)
    : emitter(emitter), purpose(purpose), ops(all.begin(), all.end()),
      rows(rows.begin(), rows.end()), text(emitter.out().getLevel() + (isWatch() ? 2 : 0)) {}

bool RowNest::isInside(Value value) const {
  return value.getDefiningOp() && innerOf.count(value.getDefiningOp());
}

SmallVector<IndexDim> RowNest::getInnerSpace(Operation *op) {
  SmallVector<IndexDim> space;
  for (IndexDim &dim : emitter.getSpace(fusion::getIteratedTensor(op)))
    if (!isRow(dim.key))
      space.push_back(dim);
  return space;
}

void RowNest::schedule() {
  SmallVector<Operation *> computed;
  for (Operation *op : ops)
    if (!isNullary(op) || outputs.count(op->getResult(0)))
      computed.push_back(op);
  fusion::RowSchedule order = fusion::scheduleRows(computed, rows);
  for (fusion::RowSchedule::Inner &inner : order.inners)
    inners.push_back({getInnerSpace(inner.ops.front()), inner.ops});
  innerOf = std::move(order.innerOf);
}

bool RowNest::isUsedLater(Value value, unsigned inner) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto it = innerOf.find(user);
    return it != innerOf.end() && it->second > inner;
  });
}

/// Dimensions whose index is an operand must not be merged with others.
static SmallVector<std::string> getNeededIndices(Operation *op) {
  SmallVector<std::string> keys;
  if (auto random = dyn_cast<RandomOp>(op))
    for (auto [d, dim] : llvm::enumerate(random.getType().getDims()))
      if (random.getType().getShardingOrReplicated().getHeadTailAxis(d))
        keys.push_back(dim.getName().str());
  if (auto scatter = dyn_cast<ScatterOp>(op))
    keys.push_back(scatter.getAlong().str());
  if (auto pad = dyn_cast<PadOp>(op))
    keys.push_back(pad.getDim().str());
  if (auto iota = dyn_cast<IotaOp>(op))
    keys.push_back(iota.getType().getDims()[0].getName().str());
  return keys;
}

/// The row-major access of the global tensor, of which this rank has a shard.
static Access makeGlobalAccess(RandomOp op) {
  SmallVector<IndexDim> space;
  for (auto [dim, size] : llvm::zip_equal(op.getType().getDims(), op.getWholeShape()))
    space.push_back({dim.getName().str(), SizeFactor{std::to_string(size), size}});
  return makeAccess("", space);
}

/// An iota is computed without a load, also if it has memory.
Access RowNest::getOperandAccess(Value operand) {
  if (auto iota = operand.getDefiningOp<IotaOp>())
    return emitter.getIndexAccess(iota);
  return emitter.getAccess(operand);
}

void RowNest::prepareAccesses() {
  for (Operation *op : ops) {
    for (const std::string &key : getNeededIndices(op))
      indexAccesses[key] = Access{"", {}}, indexAccesses[key].strides[key] = SizeExpr();
    if (auto random = dyn_cast<RandomOp>(op))
      globalIndices[random] = makeGlobalAccess(random);
    if (!innerOf.count(op))
      continue;
    for (Value operand : op->getOperands())
      if (!isInside(operand) && !accesses.count(operand) &&
          emitter.getInlineScalar(operand).empty())
        accesses[operand] = getOperandAccess(operand);
  }
  for (auto &[value, targetValues] : outputs)
    for (Value target : isWatch() ? SmallVector<Value>() : targetValues) {
      // The target may have other dimension names than the value; the memory is the same.
      targets[value].push_back(emitter.getAccess(target, emitter.getSpace(value)));
    }
  // A slice is an access from its offset on; the dimension may have another name.
  for (Operation *op : ops)
    if (auto slice = dyn_cast<SliceOp>(op)) {
      Access &access = accesses[slice.getInput()];
      SizeExpr stride = access.strides[slice.getDim()];
      int64_t at = slice.getInput().getType().findDimIndex(slice.getDimAttr());
      access.strides.erase(slice.getDim());
      access.strides[slice.getType().getDims()[at].getName().getValue()] = stride;
      advance(access, scale(std::to_string(slice.getOffset()), stride));
    }
}

SmallVector<const Access *> RowNest::getAccesses(const Inner &inner) {
  SmallVector<const Access *> found;
  for (Operation *op : inner.ops) {
    for (Value operand : op->getOperands())
      if (auto it = accesses.find(operand); it != accesses.end())
        found.push_back(&it->second);
    for (Value result : op->getResults()) {
      if (auto it = accesses.find(result); it != accesses.end())
        found.push_back(&it->second);
      if (auto it = targets.find(result); it != targets.end())
        for (const Access &access : it->second)
          found.push_back(&access);
    }
  }
  for (auto &entry : indexAccesses)
    found.push_back(&entry.second);
  for (auto &entry : globalIndices)
    found.push_back(&entry.second);
  return found;
}

SizeExpr RowNest::getWork() {
  SizeExpr work, largest;
  for (const Loop &loop : rowLoops)
    work = work * loop.size;
  int64_t most = 0;
  for (const Inner &inner : inners) {
    SizeExpr size;
    for (const IndexDim &dim : inner.space)
      size = size * dim.size;
    if (int64_t value = size.getValue().value_or(INT64_MAX); value > most) {
      most = value;
      largest = size;
    }
  }
  return work * largest;
}

SmallVector<IndexDim> RowNest::getRowSpace() {
  for (Operation *op : ops) {
    SmallVector<IndexDim> space;
    for (IndexDim &dim : emitter.getSpace(fusion::getIteratedTensor(op)))
      if (isRow(dim.key))
        space.push_back(dim);
    if (space.size() == rows.size())
      return space;
  }
  return {};
}

LogicalResult RowNest::emit() {
  std::string nest = build();
  emitter.out().raw(nest);
  return success();
}

std::string RowNest::build() {
  schedule();
  if (isWatch())
    numberSteps();
  prepareAccesses();
  SmallVector<IndexDim> space = getRowSpace();
  SmallVector<const Access *> all;
  for (const Inner &inner : inners)
    llvm::append_range(all, getAccesses(inner));
  rowLoops = makeLoops(space, all);
  if (rowLoops.size() == 1)
    rowLoops[0].variable = "row";
  nameLoops(rowLoops);
  if (emitter.isCuda()) {
    emitDevice();
  } else {
    if (!isWatch())
      emitParallel(text, rowLoops.size(), getWork());
    openLoops(text, rowLoops);
    emitRowScalars();
    for (unsigned i = 0; i < inners.size(); ++i)
      emitInner(i);
    closeLoops(text, rowLoops);
  }
  return isWatch() ? wrapWatch() : text.str();
}

/// Loads values that are constant inside the row once, before any store.
void RowNest::emitRowScalars() {
  current = rowLoops;
  for (Operation *op : ops) {
    for (Value operand : op->getOperands()) {
      bool isTable = isa<GatherOp, PadOp, SliceOp>(op) && operand == op->getOperand(0);
      auto it = accesses.find(operand);
      if (it == accesses.end() || it->second.isIndex || isTable || scalars.count(operand))
        continue;
      bool varies = llvm::any_of(emitter.getSpace(operand), [&](const IndexDim &dim) {
        return !isRow(dim.key) && !dim.size.isOne();
      });
      if (varies)
        continue;
      std::string name = emitter.names().pick(ir::getSourceName(operand) + "_at");
      Type element = cast<NamedTensorType>(operand.getType()).getElementType();
      text.line("const " + getRegisterType(element) + " " + name + " = " +
                getLoaded(it->second, rowLoops) + ";");
      scalars[operand] = name;
    }
  }
}

std::string RowNest::getSimd(const Inner &inner, ArrayRef<Loop> loops) {
  std::string sums;
  for (Operation *op : inner.ops) {
    auto reduce = dyn_cast<ReduceOp>(op);
    if (!reduce)
      continue;
    auto scalar = scalars.find(reduce.getResult());
    if (scalar == scalars.end()) {
      // Vectorising sums of array elements is safe only along a dimension of the result.
      auto access = accesses.find(reduce.getResult());
      if (access == accesses.end() || !access->second.strides.count(loops.back().getKey()))
        return "";
      continue;
    }
    StringRef sign = reduce.getKind() == dist::ReductionKind::Sum   ? "+"
                     : reduce.getKind() == dist::ReductionKind::Max ? "max"
                                                                    : "min";
    auto blocked = blockedSums.find(reduce.getResult());
    const std::string &name = blocked == blockedSums.end() ? scalar->second : blocked->second.block;
    sums += (" reduction(" + sign + ":" + name + ")").str();
  }
  // Outer loops iterate over the slots of block-wise storage.
  bool isParallel = rowLoops.empty() && sums.empty() && inners.size() == 1;
  std::optional<int64_t> work = loops.back().size.getValue();
  if (isParallel && (!work || *work >= kMinParallelWork))
    return "#pragma omp parallel for simd";
  return "#pragma omp simd" + sums;
}

/// Values for later loops get a row buffer, unless they are stored anyway.
void RowNest::prepareInner(unsigned index) {
  for (Operation *op : inners[index].ops) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (!getParallelSpace(reduce).empty())
        startBuffer(reduce);
      continue;
    }
    for (Value result : op->getResults()) {
      if (inners[index].space.empty() || !isUsedLater(result, index))
        continue;
      if (auto it = targets.find(result); it != targets.end())
        accesses[result] = it->second.front();
      else
        declareBuffer(result);
    }
  }
}

void RowNest::emitInner(unsigned index) {
  const Inner &inner = inners[index];
  prepareInner(index);
  SmallVector<Loop> loops = makeLoops(inner.space, getAccesses(inner));
  nameLoops(loops, rowLoops.size() == 1 ? 0 : rowLoops.size());
  current = rowLoops;
  llvm::append_range(current, loops);
  expressions.clear();
  stores.clear();
  for (Operation *op : inner.ops)
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && getParallelSpace(reduce).empty())
      startScalar(reduce, loops);
  SmallVector<SumNames> sums = getBlockedSums(inner);
  if (emitter.isCuda()) {
    openDeviceLoops(inner, loops);
  } else if (!loops.empty()) {
    openLoops(text, ArrayRef(loops).drop_back());
    if (!sums.empty())
      openBlocks(text, loops.back(), sums);
    if (std::string simd = getSimd(inner, loops); !simd.empty() && !isWatch())
      text.line(simd);
    if (!sums.empty())
      openBlock(text, loops.back());
    else
      openLoops(text, ArrayRef(loops).take_back());
  }
  for (Operation *op : inner.ops)
    emitOp(op);
  // Values of the row are the same for all threads of a block; one of them writes.
  for (const std::string &store : stores)
    text.line((isRowKernel && loops.empty() ? "if (threadIdx.x == 0) " : "") + store);
  if (!sums.empty()) {
    closeBlocks(text, loops.back(), sums);
    loops.pop_back();
  }
  if (!isElementKernel)
    closeLoops(text, loops);
  current = rowLoops;
  for (Operation *op : inner.ops)
    if (auto reduce = dyn_cast<ReduceOp>(op))
      finishReduce(reduce);
}

void RowNest::declareBuffer(Value value) {
  Type element = cast<NamedTensorType>(value.getType()).getElementType();
  declareBuffer(value, getRegisterType(element), "_row");
}

void RowNest::declareBuffer(Value value, StringRef type, StringRef suffix) {
  SmallVector<IndexDim> space;
  SizeExpr size;
  for (IndexDim &dim : emitter.getSpace(value))
    if (!isRow(dim.key)) {
      space.push_back(dim);
      size = size * dim.size;
    }
  std::string name = emitter.names().pick((ir::getSourceName(value) + suffix).str());
  if (isWatch()) // without a target, the buffer may be too large for the stack
    text.line("const auto " + name + " = std::make_unique<" + type + "[]>(" + size.str() + ");");
  else
    text.line((isRowKernel ? "__shared__ " : "alignas(64) ") + type + " " + name + "[" +
              size.str() + "];");
  accesses[value] = makeAccess(name, space);
}
