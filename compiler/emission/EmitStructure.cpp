// Emits functions, repeats and yields.

#include "compiler/emission/FunctionEmitter.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/Planner.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

LogicalResult FunctionEmitter::emitFunction(StringRef name, Block &block) {
  sizes().startFunction();
  sizes().reserveNames(scope);
  if (std::optional<RepeatVariant> variant = findVariant(&block))
    emitEarlyStacks(*variant);
  for (Operation &op : block)
    if (failed(emitOp(&op)))
      return failure();
  std::string parameters = "Context &ctx";
  for (const EnclosingRepeat &enclosing : repeats)
    parameters += ", [[maybe_unused]] int64_t " + enclosing.index;
  Writer text;
  std::string source = getSourceLine(block.getParentOp()->getLoc());
  if (!source.empty())
    text.line(comment(source));
  text.open("void " + name + "(" + parameters + ")");
  for (const std::string &variable : sizes().takeVariables())
    text.line(variable);
  if (hasWatches && !repeats.empty()) {
    DimAttr dim = repeats.back().repeat.getDim(); // a part of a repeat has the name of the whole
    StringAttr shown = dim.getOrigin() ? dim.getOrigin() : dim.getName();
    text.line("const Iteration iteration(ctx, " + quote(shown.getValue()) + ", " +
              repeats.back().index + ");");
  }
  text.raw(body.str());
  text.close();
  text.blank();
  program.functions += text.str();
  return success();
}

LogicalResult FunctionEmitter::emitOp(Operation *op) {
  if ((ir::isView(op) && !isa<CheckIndexOp>(op)) || isa<dist::LayerOp>(op) ||
      (op->getNumResults() && memory::isInline(op->getResult(0))))
    return success();
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<NamedTensorType>(type);
        !tensor || getElementType(tensor.getElementType()).empty())
      return op->emitError("cannot emit values of type ") << type;
  if (!isa<YieldOp, func::ReturnOp>(op)) {
    emitSourceLine(op);
    if (!isa<RepeatOp>(op))
      emitTrace(op);
    emitWatch(op);
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](RepeatOp repeat) { return emitRepeat(repeat); })
      .Case([&](YieldOp yield) { return emitYield(yield); })
      .Case([&](func::ReturnOp) { return emitReturn(op); })
      .Case([&](FusedOp fused) { return emitFused(*this, fused); })
      .Case([&](ContractOp contract) { return emitContract(*this, contract); })
      .Case([&](GroupedContractOp contract) { return emitGroupedContract(*this, contract); })
      .Case([&](ReduceOp reduce) { return emitReduce(*this, reduce); })
      .Case([&](ScatterOp scatter) { return emitScatter(*this, scatter); })
      .Case([&](CheckIndexOp check) { return emitCheckIndex(*this, check); })
      .Case([&](InsertSliceOp insert) { return emitInsertSlice(*this, insert); })
      .Case([&](RotaryOp rotary) { return emitRotary(*this, rotary); })
      .Case([&](AttentionOp attention) { return emitAttention(*this, attention); })
      .Case([&](TopKOp topK) { return emitTopK(*this, topK); })
      .Case([&](CumulativeSumOp sums) { return emitCumulativeSum(*this, sums); })
      .Case([&](CumulativeCountOp counts) { return emitCumulativeCount(*this, counts); })
      .Case([&](AttentionGradOp grad) { return emitAttentionGrad(*this, grad); })
      .Case<GatherOp, SliceOp, PadOp>([&](Operation *) { return emitRows(*this, op); })
      .Default([&](Operation *) {
        if (op->hasTrait<Elementwise>())
          return emitRows(*this, op);
        if (isa<dist::DistDialect>(op->getDialect()))
          return emitCollective(*this, op);
        return LogicalResult(op->emitError("cannot emit '") << op->getName() << "'");
      });
}

std::string emission::getVariantTable(LocalSizes &sizes, RepeatOp repeat) {
  return sizes.getTable((repeat.getDim().getName().getValue() + "_variant").str(),
                        repeat.getIterations().getVariants());
}

std::string emission::getSlotTable(LocalSizes &sizes, RepeatOp repeat, ArrayRef<int64_t> users) {
  return sizes.getTable((repeat.getDim().getName().getValue() + "_slot").str(),
                        repeat.getIterations().getSlots(users));
}

AllocRefAttr FunctionEmitter::getSlot(OpResult stack) {
  auto repeat = cast<RepeatOp>(stack.getOwner());
  return memory::getAllocRef(stack).getSlot(
      repeats.size() - 1, repeat,
      repeat.getStackedUsers(stack.getResultNumber() - repeat.getNumIterArgs()));
}

LogicalResult FunctionEmitter::emitVariant(RepeatVariant variant,
                                           ArrayRef<EnclosingRepeat> enclosing, std::string &name) {
  RepeatOp repeat = variant.getRepeat();
  name = program.functionNames.pick(repeat.getDim().getName().str() +
                                    (repeat.getReverse() ? "_backward" : "_body"));
  // The callee's variables are its own.
  SmallVector<std::string> used = sizes().takeUsed();
  FunctionEmitter emitter(program, SmallVector<EnclosingRepeat>(enclosing));
  if (failed(emitter.emitFunction(name, variant.getBlock())))
    return failure();
  sizes().restoreUsed(used);
  name += "(ctx";
  for (const EnclosingRepeat &each : enclosing)
    name += ", " + each.index;
  name += ");";
  return success();
}

/// A loop that calls the body of the variant of each iteration.
LogicalResult FunctionEmitter::emitRepeat(RepeatOp repeat) {
  for (auto [init, argument] :
       llvm::zip_equal(repeat.getInits(), repeat.getVariant(0).getIterArgs()))
    copyToAllocation(init, memory::getAllocRef(argument));
  std::string count =
      sizes().getSize(repeat.getDim(), ArrayAttr::get(repeat.getContext(), {})).name;
  std::string index = "l" + (repeats.empty() ? std::string() : std::to_string(repeats.size()));
  SmallVector<EnclosingRepeat> inner = repeats;
  inner.push_back({index, repeat});
  SmallVector<std::string> calls;
  for (const RepeatVariant &variant : repeat.getVariants())
    if (failed(emitVariant(variant, inner, calls.emplace_back())))
      return failure();
  std::string head = repeat.getReverse() ? " = " + count + " - 1; " + index + " >= 0; --" + index
                                         : " = 0; " + index + " < " + count + "; ++" + index;
  body.line("for (int64_t " + index + head + ")");
  body.indent();
  if (calls.size() == 1) {
    body.line(calls[0]);
  } else {
    body.open("switch (" + getVariantTable(sizes(), repeat) + "[" + index + "])");
    for (auto [variant, call] : llvm::enumerate(calls))
      body.line("case " + std::to_string(variant) + ": " + call + " break;");
    body.close();
  }
  body.unindent();
  lastTrace.clear();
  return success();
}

/// An argument of the body that is also a stacked output: copied first, because its memory is
/// reused.
static bool isStackedEarly(const RepeatVariant &variant, Value yielded) {
  return isa<BlockArgument>(yielded) && yielded.getParentBlock() == &variant.getBlock();
}

void FunctionEmitter::emitEarlyStacks(RepeatVariant variant) {
  for (auto [value, stack, operand] : variant.getStackedOutputs())
    if (isStackedEarly(variant, value))
      copyToAllocation(value, getSlot(stack));
}

/// Stacked outputs first, because iteration arguments may overwrite their source.
LogicalResult FunctionEmitter::emitYield(YieldOp yield) {
  RepeatVariant variant = *findVariant(yield->getBlock());
  for (auto [value, stack, operand] : variant.getStackedOutputs())
    if (!isStackedEarly(variant, value))
      copyToAllocation(value, getSlot(stack));
  for (auto [value, argument] :
       llvm::zip_equal(variant.getYieldedIterArgs(), variant.getIterArgs()))
    copyToAllocation(value, memory::getAllocRef(argument));
  return success();
}

LogicalResult FunctionEmitter::emitReturn(Operation *op) {
  auto targets = op->getAttrOfType<ArrayAttr>(memory::kArgumentAllocs);
  for (auto [value, target] :
       llvm::zip_equal(op->getOperands(), targets.getAsRange<AllocRefAttr>()))
    copyToAllocation(value, target);
  return success();
}
