// The pass --titan-count-flops.

#include "dialects/titan/Cost/Cost.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/Turns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANCOUNTFLOPS
#define GEN_PASS_REGISTRATION
#include "dialects/titan/Cost/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

double ir::countFlops(Region &region, const dist::Degrees &degrees) {
  double flops = 0;
  for (Operation &op : region.getOps()) {
    if (auto repeat = dyn_cast<RepeatOp>(op))
      for (const RepeatVariant &body : repeat.getVariants())
        flops += static_cast<double>(body.getCount()) * countFlops(body.getRegion(), degrees);
    else if (auto cost = dyn_cast<CostOpInterface>(op))
      flops += cost.getFlops(degrees);
  }
  return flops;
}

void ir::setCountAttribute(ModuleOp module, StringRef attribute,
                           llvm::function_ref<double(func::FuncOp, double)> count) {
  auto sizes = module->getAttrOfType<DictionaryAttr>(attr::kSizes);
  if (!sizes)
    return;
  double tokens = 1;
  for (StringRef role : {"samples", "positions"})
    if (auto size = sizes.getAs<IntegerAttr>(role))
      tokens *= static_cast<double>(size.getInt());
  SmallVector<func::FuncOp> programs = getTrainPrograms(module);
  if (programs.empty())
    return;
  double mean = 0;
  for (func::FuncOp function : programs) {
    auto turn = function->getAttrOfType<TurnAttr>(attr::kTurn);
    mean += (turn ? computeStepFraction(getTurn(turn)) : 1) * count(function, tokens);
  }
  module->setAttr(attribute, Builder(module.getContext()).getF64FloatAttr(mean));
}

namespace {
struct CountFlops : titan::ir::impl::TitanCountFlopsBase<CountFlops> {
  void runOnOperation() override {
    setCountAttribute(getOperation(), attr::kFlopsPerToken, [](func::FuncOp train, double tokens) {
      return countFlops(train.getBody(), {}) / tokens;
    });
  }
};
} // namespace

void ir::registerCostPasses() {
  registerTitanCostPasses();
}
