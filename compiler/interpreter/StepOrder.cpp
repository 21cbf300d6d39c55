//===- StepOrder.cpp - The fragments that a rank runs in a step -----------===//

#include "compiler/interpreter/StepOrder.h"

#include "dialects/dist/IR/DistOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using dist::FragmentKind;

static dist::FragmentAttr getFragment(func::FuncOp function) {
  return function->getAttrOfType<dist::FragmentAttr>(dist::kFragmentAttr);
}

/// The size of the leading dimension of the first input that fragments read by microbatch.
static int64_t countMicrobatches(func::FuncOp declaration, ArrayRef<func::FuncOp> fragments) {
  for (func::FuncOp fragment : fragments)
    for (unsigned i = 0; i < fragment.getNumArguments(); ++i) {
      if (!fragment.getArgAttr(i, ir::attr::kMicrobatch))
        continue;
      Attribute name = fragment.getArgAttr(i, ir::attr::kInput);
      for (unsigned j = 0; j < declaration.getNumArguments(); ++j)
        if (declaration.getArgAttr(j, ir::attr::kInput) == name)
          return cast<ir::NamedTensorType>(declaration.getArgumentTypes()[j]).getShape().front();
    }
  return 1;
}

FailureOr<StepOrder> StepOrder::get(func::FuncOp declaration, ArrayRef<func::FuncOp> fragments,
                                    const RankMesh &mesh) {
  StepOrder order(fragments, mesh);
  order.numMicrobatches = countMicrobatches(declaration, fragments);
  for (func::FuncOp fragment : fragments)
    order.numStages = std::max(order.numStages, getFragment(fragment).getStage() + 1);
  return order;
}

int64_t StepOrder::getRankOfStage(int64_t rank, int64_t /*stage*/) const {
  return rank;
}

std::vector<FragmentCall> StepOrder::getCalls(int64_t /*rank*/) const {
  return getSequentialCalls();
}

std::vector<FragmentCall> StepOrder::getSequentialCalls() const {
  std::vector<FragmentCall> calls;
  auto append = [&](ArrayRef<FragmentKind> kinds, int64_t microbatch) {
    for (func::FuncOp fragment : fragments)
      if (llvm::is_contained(kinds, getFragment(fragment).getKind()))
        calls.push_back({fragment, microbatch});
  };
  append(FragmentKind::Begin, -1);
  for (int64_t microbatch = 0; microbatch < numMicrobatches; ++microbatch)
    append({FragmentKind::Forward, FragmentKind::Backward}, microbatch);
  append(FragmentKind::Update, -1);
  return calls;
}
