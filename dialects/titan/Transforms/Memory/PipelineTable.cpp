// The pipelines of a module with a memory plan.

#include "dialects/titan/Transforms/Memory/PipelineTable.h"

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "llvm/ADT/SetVector.h"

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

/// The number of a persistent allocation; nothing for others.
std::optional<int> getPersistentNumber(AllocRefAttr ref) {
  if (ref.getSpace() != MemorySpace::Persistent)
    return std::nullopt;
  return static_cast<int>(ref.getIndex());
}

/// The allocations of the results that other fragments read.
SmallVector<int> getCrossingResults(func::FuncOp function) {
  SmallVector<int> numbers;
  Operation *terminator = function.getBody().front().getTerminator();
  auto results = terminator->getAttrOfType<ArrayAttr>(memory::kArgumentAllocs);
  for (auto [i, ref] : llvm::enumerate(results.getAsRange<AllocRefAttr>()))
    if (memory::getCrossingKey(function, i))
      numbers.push_back(static_cast<int>(ref.getIndex()));
  return numbers;
}

/// Adds the allocations of the fragments to a pipeline.
class AllocationCollector {
public:
  explicit AllocationCollector(pipeline::Pipeline &pipeline) : pipeline(pipeline) {}

  void add(func::FuncOp function, pipeline::Fragment &fragment) {
    fragment.uses = memory::getUsedAllocations(function);
    Numbers reads, writes;
    for (BlockArgument argument : function.getArguments()) {
      std::optional<int> number = getPersistentNumber(memory::getAllocRef(argument));
      if (!number)
        continue;
      unsigned i = argument.getArgNumber();
      bool isStash = function.getArgAttr(i, attr::kStash) != nullptr;
      if (isStash || function.getArgAttr(i, attr::kStepValue))
        reads.insert(*number);
      if (isStash)
        stashes.insert(*number);
      if (function.getArgAttr(i, attr::kMicrobatch))
        inputs.insert(*number);
    }
    for (int number : getCrossingResults(function))
      writes.insert(number);
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

std::vector<int> memory::getUsedAllocations(func::FuncOp fragment) {
  llvm::SmallSetVector<int, 16> numbers;
  for (BlockArgument argument : fragment.getArguments())
    if (std::optional<int> number = getPersistentNumber(getAllocRef(argument)))
      numbers.insert(*number);
  for (int number : getCrossingResults(fragment))
    numbers.insert(number);
  return {numbers.begin(), numbers.end()};
}

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
