//===- PipelineTable.cpp - The pipelines of a planned module --------------===//

#include "dialects/titan/Transforms/Memory/PipelineTable.h"

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"

#include <set>

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Numbers of allocations, ascending.
using Numbers = std::set<int>;

std::vector<int> toVector(const Numbers &numbers) {
  return {numbers.begin(), numbers.end()};
}

/// Adds the allocations of the fragments to a pipeline.
class AllocationCollector {
public:
  explicit AllocationCollector(pipeline::Pipeline &pipeline) : pipeline(pipeline) {}

  void add(func::FuncOp function, pipeline::Fragment &fragment) {
    Numbers uses, reads, writes;
    for (BlockArgument argument : function.getArguments()) {
      AllocRefAttr ref = memory::getAllocRef(argument);
      if (ref.getSpace() != MemorySpace::Persistent)
        continue;
      unsigned i = argument.getArgNumber();
      int number = static_cast<int>(ref.getIndex());
      uses.insert(number);
      bool isStash = function.getArgAttr(i, attr::kStash) != nullptr;
      if (isStash || function.getArgAttr(i, attr::kStepValue))
        reads.insert(number);
      if (isStash)
        stashes.insert(number);
      if (function.getArgAttr(i, attr::kMicrobatch))
        inputs.insert(number);
    }
    Operation *terminator = function.getBody().front().getTerminator();
    auto results = terminator->getAttrOfType<ArrayAttr>(memory::kArgumentAllocs);
    for (auto [i, ref] : llvm::enumerate(results.getAsRange<AllocRefAttr>()))
      if (memory::getCrossingKey(function, i)) {
        uses.insert(static_cast<int>(ref.getIndex()));
        writes.insert(static_cast<int>(ref.getIndex()));
      }
    fragment.uses = toVector(uses);
    fragment.reads = toVector(reads);
    fragment.writes = toVector(writes);
  }

  void finish() {
    pipeline.stashes = toVector(stashes);
    pipeline.inputs = toVector(inputs);
  }

private:
  pipeline::Pipeline &pipeline;
  Numbers stashes, inputs;
};

} // namespace

std::vector<pipeline::Pipeline> memory::getPipelines(ModuleOp module) {
  std::vector<pipeline::Pipeline> pipelines;
  dist::PipelineOp op = dist::PipelineOp::lookup(module);
  if (!op)
    return pipelines;
  for (auto declaration : module.getOps<func::FuncOp>()) {
    if (!declaration->hasAttr(dist::kFragmentsAttr))
      continue;
    pipelines.push_back(dist::describePipeline(declaration, op));
    AllocationCollector collector(pipelines.back());
    for (auto [function, fragment] :
         llvm::zip_equal(dist::getFragments(declaration), pipelines.back().fragments))
      collector.add(function, fragment);
    collector.finish();
  }
  return pipelines;
}
