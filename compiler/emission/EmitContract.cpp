// Emits contractions.

#include "compiler/emission/FunctionEmitter.h"

#include "dialects/titan/Transforms/Memory/MemoryPlan.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

/// The union of the dimensions of both operands.
static SmallVector<IndexDim> getCombinedSpace(const GemmOperand &a, const GemmOperand &b) {
  SmallVector<IndexDim> space = a.dims;
  for (const IndexDim &dim : b.dims)
    if (!a.access.strides.count(dim.key))
      space.push_back(dim);
  return space;
}

/// Whether some dimension belongs to one operand and the result; without one there is no matrix.
static bool hasFreeDimension(const GemmOperand &a, const GemmOperand &b) {
  auto isIn = [](const GemmOperand &operand, const IndexDim &dim) {
    return dim.size.isOne() || operand.access.strides.count(dim.key);
  };
  return llvm::any_of(a.dims, [&](const IndexDim &dim) { return !isIn(b, dim); }) ||
         llvm::any_of(b.dims, [&](const IndexDim &dim) { return !isIn(a, dim); });
}

static void emitShape(Writer &out, const GemmPlan &plan, const std::string &accumulate) {
  out.line("     {.m = " + plan.m.str() + ", .n = " + plan.n.str() + ", .k = " + plan.k.str() +
           ",");
  std::string flags;
  if (plan.transposeA)
    flags += ".transposeA = true, ";
  if (plan.transposeB)
    flags += ".transposeB = true, ";
  if (!accumulate.empty())
    flags += ".accumulate = " + accumulate + ", ";
  out.line("      " + flags + ".lda = " + plan.lda.str() + ", .ldb = " + plan.ldb.str() +
           ", .ldc = " + plan.ldc.str() + (plan.batch ? "," : "});"));
  if (plan.batch)
    out.line("      .batch = " + plan.batch->size.str() + ", .strideA = " + plan.strideA.str() +
             ", .strideB = " + plan.strideB.str() + ", .strideC = " + plan.strideC.str() + "});");
}

static void emitGemm(FunctionEmitter &emitter, GemmPlan &plan, const GemmOperand &a,
                     const GemmOperand &b, const GemmOperand &c, bool accumulates) {
  nameLoops(plan.loops);
  Writer &out = emitter.out();
  openLoops(out, plan.loops);
  auto at = [&](const GemmOperand &operand) {
    std::string offset = getOffset(operand.access, plan.loops);
    return operand.access.pointer + (offset == "0" ? "" : " + " + offset);
  };
  // The first product initialises the sum, unless it accumulates into a tensor.
  std::string accumulate = accumulates ? "true" : "";
  for (const Loop &loop : plan.loops)
    if (!accumulates && !c.access.strides.count(loop.getKey()))
      accumulate += (accumulate.empty() ? "" : " || ") + loop.variable + " > 0";
  const GemmOperand &left = plan.swapped ? b : a, &right = plan.swapped ? a : b;
  out.line("gemm(ctx, " + at(left) + ", " + at(right) + ", " + at(c) + ",");
  emitShape(out, plan, accumulate);
  closeLoops(out, plan.loops);
}

void emission::emitAccumulator(FunctionEmitter &emitter, Operation *op) {
  Value result = op->getResult(0), accumulator = getAccumulator(op);
  if (memory::getAllocRef(result) == memory::getAllocRef(accumulator))
    return;
  auto type = cast<NamedTensorType>(result.getType());
  emitter.out().line("tm::copy(ctx, " + emitter.getPointer(result) + ", " +
                     emitter.getPointer(accumulator) + ", " + emitter.sizes().getCount(type).str() +
                     ");");
}

void emission::emitProduct(FunctionEmitter &emitter, const GemmOperand &a, const GemmOperand &b,
                           const GemmOperand &c, const std::string &type, bool accumulates) {
  GemmPlan plan;
  if (hasFreeDimension(a, b))
    plan = planGemm(a, b, c);
  if (plan.isGemm)
    return emitGemm(emitter, plan, a, b, c, accumulates);
  emitReduction(emitter, {getCombinedSpace(a, b),
                          {a.access, b.access},
                          c.access,
                          dist::ReductionKind::Sum,
                          type,
                          accumulates});
}

LogicalResult emission::emitContract(FunctionEmitter &emitter, ContractOp op) {
  auto getOperand = [&](Value value) {
    return GemmOperand{emitter.getAccess(value), emitter.getSpace(value)};
  };
  GemmOperand a = getOperand(op.getLhs()), b = getOperand(op.getRhs()),
              c = getOperand(op.getResult());
  bool accumulates = op.getInto() != nullptr;
  if (accumulates)
    emitAccumulator(emitter, op);
  emitProduct(emitter, a, b, c, getRegisterType(op.getResult().getType().getElementType()),
              accumulates);
  return success();
}
