//===- PipelineTable.cpp - The pipelines of a planned module --------------===//

#include "dialects/titan/Transforms/Memory/PipelineTable.h"

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/Transforms/Memory/BlockStorage.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"

#include <set>

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using pipeline::FragmentKind;

static FragmentKind getKind(dist::FragmentKind kind) {
  switch (kind) {
  case dist::FragmentKind::Begin:
    return FragmentKind::Begin;
  case dist::FragmentKind::Forward:
    return FragmentKind::Forward;
  case dist::FragmentKind::Backward:
    return FragmentKind::Backward;
  case dist::FragmentKind::Wgrad:
    return FragmentKind::Wgrad;
  case dist::FragmentKind::Update:
    return FragmentKind::Update;
  case dist::FragmentKind::Evaluate:
    return FragmentKind::Evaluate;
  }
  llvm_unreachable("all kinds are covered");
}

namespace {

/// Numbers of allocations, ascending.
using Numbers = std::set<int>;

std::vector<int> toVector(const Numbers &numbers) {
  return {numbers.begin(), numbers.end()};
}

class Collector {
public:
  explicit Collector(pipeline::Pipeline &pipeline) : pipeline(pipeline) {}

  void add(func::FuncOp function) {
    auto fragment = function->getAttrOfType<dist::FragmentAttr>(dist::kFragmentAttr);
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
    pipeline.fragments.push_back(
        {function->getAttrOfType<StringAttr>(attr::kProgram).str(), getKind(fragment.getKind()),
         static_cast<int>(fragment.getStage()), static_cast<int>(fragment.getLevel()),
         toVector(uses), toVector(reads), toVector(writes)});
    hasMicrobatches |= fragment.getKind() == dist::FragmentKind::Forward;
  }

  void finish(int64_t microbatches) {
    pipeline.microbatches = hasMicrobatches ? microbatches : 0;
    pipeline.stashes = toVector(stashes);
    pipeline.inputs = toVector(inputs);
  }

private:
  pipeline::Pipeline &pipeline;
  Numbers stashes, inputs;
  bool hasMicrobatches = false;
};

int findAxis(ModuleOp module, StringRef name) {
  int number = 0;
  for (auto axis : dist::MeshOp::lookup(module).getAxes().getAsRange<dist::MeshAxisAttr>()) {
    if (axis.getName() == name)
      return number;
    ++number;
  }
  return -1;
}

} // namespace

std::vector<pipeline::Pipeline> memory::getPipelines(ModuleOp module) {
  std::vector<pipeline::Pipeline> pipelines;
  dist::PipelineOp op = dist::PipelineOp::lookup(module);
  if (!op)
    return pipelines;
  for (auto declaration : module.getOps<func::FuncOp>()) {
    if (!declaration->hasAttr(dist::kFragmentsAttr))
      continue;
    pipelines.push_back({declaration.getName().str(),
                         findAxis(module, op.getAxis()),
                         static_cast<int>(op.getNumStages()),
                         0,
                         op.getSchedule().str(),
                         {},
                         {},
                         {}});
    Collector collector(pipelines.back());
    for (func::FuncOp fragment : dist::getFragments(declaration))
      collector.add(fragment);
    collector.finish(op.getMicrobatches());
  }
  return pipelines;
}
