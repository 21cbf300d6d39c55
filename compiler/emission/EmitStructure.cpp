//===- EmitStructure.cpp - Functions, repeats, yields ---------------------===//

#include "compiler/emission/FunctionEmitter.h"
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
  auto repeat = dyn_cast<RepeatOp>(block.getParentOp());
  if (repeat)
    emitEarlyStacks(repeat);
  for (Operation &op : block)
    if (failed(emitOp(&op)))
      return failure();
  std::string parameters = "Context &ctx";
  for (const Enclosing &enclosing : repeats)
    parameters += ", [[maybe_unused]] int64_t " + enclosing.index;
  Writer text;
  std::string source = getSourceLine(block.getParentOp()->getLoc());
  if (!source.empty())
    text.line("// " + source);
  text.open("void " + name + "(" + parameters + ")");
  for (const std::string &variable : sizes().takeVariables())
    text.line(variable);
  text.raw(body.str());
  text.close();
  text.blank();
  program.functions += text.str();
  return success();
}

LogicalResult FunctionEmitter::emitOp(Operation *op) {
  if (memory::isView(op) || (op->getNumResults() && memory::isInline(op->getResult(0))))
    return success();
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<NamedTensorType>(type);
        !tensor || getElementType(tensor.getElementType()).empty())
      return op->emitError("cannot emit values of type ") << type;
  if (!isa<YieldOp, func::ReturnOp>(op)) {
    emitSourceLine(op);
    if (!isa<RepeatOp>(op))
      setPlace(op);
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](RepeatOp repeat) { return emitRepeat(repeat); })
      .Case([&](YieldOp yield) { return emitYield(yield); })
      .Case([&](func::ReturnOp) { return emitReturn(op); })
      .Case([&](FusedOp fused) { return emitFused(*this, fused); })
      .Case([&](ContractOp contract) { return emitContract(*this, contract); })
      .Case([&](ReduceOp reduce) { return emitReduce(*this, reduce); })
      .Case([&](PutOp put) { return emitScatter(*this, put); })
      .Case([&](RotaryOp rotary) { return emitRotary(*this, rotary); })
      .Case([&](AttentionOp attention) { return emitAttention(*this, attention); })
      .Case([&](AttentionGradOp grad) { return emitAttentionGrad(*this, grad); })
      .Case<TakeOp, SliceOp, PadOp>([&](Operation *) { return emitRows(*this, op); })
      .Default([&](Operation *) {
        if (op->hasTrait<Elementwise>())
          return emitRows(*this, op);
        if (isa<dist::DistDialect>(op->getDialect()))
          return emitCollective(*this, op);
        return LogicalResult(op->emitError("cannot emit '") << op->getName() << "'");
      });
}

/// Copies where the memory phase could not make the value's place the one it must have.
void FunctionEmitter::copyToPlace(Value value, PlaceAttr target) {
  auto type = cast<NamedTensorType>(value.getType());
  if (target != memory::getPlace(value))
    copyTo(value, getPlacePointer(target, type.getElementType(), sizes().getCount(type)));
}

PlaceAttr FunctionEmitter::getSlot(PlaceAttr stack) {
  SmallVector<int64_t> levels(stack.getLevels());
  levels.push_back(repeats.size() - 1);
  return PlaceAttr::get(stack.getContext(), stack.getSpace(), stack.getBuffer(), levels);
}

LogicalResult FunctionEmitter::emitRepeat(RepeatOp repeat) {
  for (auto [init, argument] : llvm::zip_equal(repeat.getInits(), repeat.getCarriedArgs()))
    copyToPlace(init, memory::getPlace(argument));
  Factor count = sizes().getSize(repeat.getDim(), ArrayAttr::get(repeat.getContext(), {}));
  // A name that no value has.
  std::string index = "l" + (repeats.empty() ? std::string() : std::to_string(repeats.size()));
  SmallVector<Enclosing> inner = repeats;
  inner.push_back({index, count});
  std::string name = program.functionNames.pick(repeat.getDim().getName().str() +
                                                (repeat.getReverse() ? "_backward" : "_body"));
  // The callee's variables are its own.
  SmallVector<std::string> used = sizes().takeUsed();
  if (failed(FunctionEmitter(program, inner).emitFunction(name, repeat.getBody().front())))
    return failure();
  sizes().restoreUsed(used);
  std::string head = repeat.getReverse()
                         ? " = " + count.name + " - 1; " + index + " >= 0; --" + index
                         : " = 0; " + index + " < " + count.name + "; ++" + index;
  std::string arguments = "ctx";
  for (const Enclosing &enclosing : inner)
    arguments += ", " + enclosing.index;
  body.line("for (int64_t " + index + head + ")");
  body.indent();
  body.line(name + "(" + arguments + ");");
  body.unindent();
  place.clear();
  return success();
}

/// What a body stacks of its own arguments is copied first, because their memory is reused.
void FunctionEmitter::emitEarlyStacks(RepeatOp repeat) {
  for (auto [stack, yielded] :
       llvm::zip(repeat.getStackedResults(),
                 repeat.getYield().getValues().drop_front(repeat.getNumCarried())))
    if (isa<BlockArgument>(yielded) && yielded.getParentBlock() == &repeat.getBody().front())
      copyToPlace(yielded, getSlot(memory::getPlace(stack)));
}

/// Stacks come first: what is carried may overwrite their source.
LogicalResult FunctionEmitter::emitYield(YieldOp yield) {
  auto repeat = cast<RepeatOp>(yield->getParentOp());
  unsigned carried = repeat.getNumCarried();
  for (unsigned i = carried; i < yield.getNumOperands(); ++i) {
    Value value = yield.getValues()[i];
    if (!isa<BlockArgument>(value) || value.getParentBlock() != yield->getBlock())
      copyToPlace(value, getSlot(memory::getPlace(repeat.getResult(i))));
  }
  for (unsigned i = 0; i < carried; ++i)
    copyToPlace(yield.getValues()[i], memory::getPlace(repeat.getCarriedArgs()[i]));
  return success();
}

LogicalResult FunctionEmitter::emitReturn(Operation *op) {
  auto targets = op->getAttrOfType<ArrayAttr>(memory::kArguments);
  for (auto [value, target] : llvm::zip_equal(op->getOperands(), targets.getAsRange<PlaceAttr>()))
    copyToPlace(value, target);
  return success();
}
