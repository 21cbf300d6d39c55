// Announces operands and results to the runtime.

#include "compiler/emission/WatchNumbers.h"

#include "compiler/emission/ScalarSteps.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::emission;

bool emission::watchesNumbers(ModuleOp module) {
  auto run = module->getAttrOfType<DictionaryAttr>(attr::kRun);
  auto setting = run ? run.getAs<SettingAttr>("check_numbers") : SettingAttr();
  auto word = setting ? dyn_cast<StringAttr>(setting.getValue()) : StringAttr();
  return word && word.getValue() == "true";
}

bool emission::watchesNumbers(func::FuncOp function) {
  auto program = function->getAttrOfType<StringAttr>(attr::kProgram);
  return program && program.getValue().split('.').first == "train" &&
         watchesNumbers(function->getParentOfType<ModuleOp>());
}

static bool hasFloats(TypeRange types) {
  return llvm::any_of(types, [](Type type) {
    auto tensor = dyn_cast<NamedTensorType>(type);
    return tensor && isa<FloatType>(tensor.getElementType());
  });
}

bool emission::mayMakeNonFinite(Operation *op) {
  if (!hasFloats(op->getResultTypes()))
    return false;
  if (dist::reduces(op))
    return cast<NamedTensorType>(op->getOperand(0).getType())
               .getShardingOrReplicated()
               .getPartialKind() == dist::ReductionKind::Sum;
  if (isa<dist::DistDialect>(op->getDialect()))
    return isa<dist::WaitOp>(op);
  if (isa<ScatterOp>(op)) // in a row, it only places numbers
    return !isa<FusedOp>(op->getParentOp());
  return !isExact(op) && !isNullary(op) && !isa<RepeatOp>(op);
}

std::string FunctionEmitter::listNumbers(ValueRange values) {
  std::string list;
  for (Value value : values) {
    auto type = cast<NamedTensorType>(value.getType());
    if (!isa<FloatType>(type.getElementType()) || memory::isInline(value) ||
        !getInlineScalar(value).empty())
      continue;
    std::optional<SizeExpr> bucket = program.getBucketSize(memory::getAllocRef(ir::getRoot(value)));
    SmallVector<LocalDim> dims = sizes().getDims(type);
    std::string numbers = "{" + getDType(type.getElementType()) + ", " + getPointer(value) + ", ";
    if (bucket && dims.size() > 1) {
      SizeExpr slots;
      for (const LocalDim &dim : ArrayRef(dims).drop_back())
        slots = slots * dim.size;
      numbers += SizeExpr(dims.back().size).str() + ", " + slots.str() + ", " + bucket->str() + "}";
    } else {
      numbers += sizes().getCount(type).str() + "}";
    }
    list += (list.empty() ? "" : ", ") + numbers;
  }
  return "{" + list + "}";
}

void FunctionEmitter::emitWatch(Operation *op) {
  if (!watchesNumbers() || !mayMakeNonFinite(op) || getSourceLine(op->getLoc()).empty())
    return;
  auto wait = dyn_cast<dist::WaitOp>(op);
  std::optional<int64_t> start = dist::getStartChannel(op);
  std::string reads = wait ? "{}" : listNumbers(op->getOperands());
  std::string writes = start ? "{}" : listNumbers(op->getResults());
  std::optional<int64_t> channel = wait ? std::optional<int64_t>(wait.getChannel()) : start;
  body.line("if (ctx.numbers)");
  body.indent();
  body.line("watch(ctx, " + reads + ", " + writes +
            (channel ? ", " + std::to_string(*channel) : "") + ");");
  body.unindent();
  hasWatches = true;
}
