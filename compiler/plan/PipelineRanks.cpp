#include "compiler/plan/PipelineRanks.h"

#include "dialects/titan/IR/Titan.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "dialects/titan/Transforms/Memory/PipelineTable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace titan::plan {

/// Whether a rank has the argument of its stages even if training does not run the function:
/// parameters, states, and caches of generation.
static bool isStored(func::FuncOp function, unsigned argument) {
  auto scalar = function.getArgAttrOfType<StringAttr>(argument, ir::attr::kScalar);
  return function.getArgAttr(argument, ir::attr::kParam) ||
         function.getArgAttr(argument, ir::attr::kState) ||
         function.getArgAttr(argument, ir::attr::kCache) ||
         (scalar && ir::isGenerationScalar(scalar));
}

bool isOfTraining(StringRef function) {
  StringRef program = function.split('.').first;
  return program == "train" || program == "eval";
}

/// The pipelines of a training run.
static pipeline::Table getPipelineTable(ModuleOp module) {
  auto allocations = module->getAttrOfType<ArrayAttr>(memory::kPersistent);
  pipeline::Table table{memory::getPipelines(module), std::vector<bool>(allocations.size()), {}};
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (BlockArgument argument : function.getArguments())
      if (ir::AllocRefAttr ref = memory::getAllocRef(argument);
          ref && ref.getSpace() == ir::MemorySpace::Persistent &&
          isStored(function, argument.getArgNumber()))
        table.isStored[ref.getIndex()] = true;
    if (auto name = function->getAttrOfType<StringAttr>(ir::attr::kProgram);
        name && isOfTraining(name))
      table.functions.push_back(name.str());
  }
  return table;
}

std::vector<pipeline::Pipelines> planRanks(ModuleOp module, const dist::Degrees &degrees) {
  const pipeline::Table table = getPipelineTable(module);
  if (table.pipelines.empty())
    return {pipeline::Pipelines(table, std::vector<pipeline::PlannedStep>(), {})};
  std::vector<int64_t> degree, coordinate;
  for (auto axis : dist::MeshOp::lookup(module).getAxes().getAsRange<dist::MeshAxisAttr>())
    degree.push_back(degrees.lookup(axis.getName().getValue()));
  coordinate.resize(degree.size());
  const auto axis = static_cast<size_t>(table.pipelines.front().axis);
  const std::vector<pipeline::PlannedStep> steps = pipeline::planSteps(table, degree);
  std::vector<pipeline::Pipelines> ranks;
  for (coordinate[axis] = 0; coordinate[axis] < degree[axis]; ++coordinate[axis])
    ranks.emplace_back(table, steps, coordinate);
  return ranks;
}

std::vector<Execution> findStep(ModuleOp module) {
  std::vector<Execution> step;
  dist::PipelineOp pipeline = dist::PipelineOp::lookup(module);
  for (auto function : module.getOps<func::FuncOp>()) {
    auto program = function->getAttrOfType<StringAttr>(ir::attr::kProgram);
    if (!program || program.getValue().split('.').first != "train")
      continue;
    auto fragment = function->getAttrOfType<dist::FragmentAttr>(dist::kFragmentAttr);
    step.push_back({function, fragment && dist::runsPerMicrobatch(fragment.getKind())
                                  ? static_cast<int64_t>(pipeline.getMicrobatches())
                                  : 1});
  }
  return step;
}

std::vector<Execution> findStep(ModuleOp module, const pipeline::Pipelines &rank) {
  std::vector<Execution> step = findStep(module);
  llvm::erase_if(step, [&](const Execution &execution) {
    return !rank.runs(
        execution.function->getAttrOfType<StringAttr>(ir::attr::kProgram).getValue().str());
  });
  return step;
}

} // namespace titan::plan
