// The fragments of a program.

#include "dialects/dist/IR/DistOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace titan;

static pipeline::FragmentKind getTableKind(dist::FragmentKind kind) {
  switch (kind) {
  case dist::FragmentKind::Begin:
    return pipeline::FragmentKind::Begin;
  case dist::FragmentKind::Forward:
    return pipeline::FragmentKind::Forward;
  case dist::FragmentKind::Backward:
    return pipeline::FragmentKind::Backward;
  case dist::FragmentKind::Wgrad:
    return pipeline::FragmentKind::Wgrad;
  case dist::FragmentKind::Update:
    return pipeline::FragmentKind::Update;
  case dist::FragmentKind::Evaluate:
    return pipeline::FragmentKind::Evaluate;
  }
  llvm_unreachable("all kinds are covered");
}

bool dist::runsPerMicrobatch(FragmentKind kind) {
  return pipeline::runsPerMicrobatch(getTableKind(kind));
}

SmallVector<func::FuncOp> dist::getFragments(func::FuncOp declaration) {
  SmallVector<func::FuncOp> fragments;
  auto module = declaration->getParentOfType<ModuleOp>();
  auto symbols = declaration->getAttrOfType<ArrayAttr>(kFragmentsAttr);
  for (auto symbol : symbols.getAsRange<FlatSymbolRefAttr>())
    if (auto fragment = module.lookupSymbol<func::FuncOp>(symbol.getAttr()))
      fragments.push_back(fragment);
  return fragments;
}

StringRef dist::getProgramName(func::FuncOp fragment) {
  auto attribute = fragment->getAttrOfType<FragmentAttr>(kFragmentAttr);
  const std::string kind = ("." + stringifyFragmentKind(attribute.getKind()) + ".").str();
  return fragment.getName().take_front(fragment.getName().rfind(kind));
}

static int findAxis(dist::MeshOp mesh, StringRef name) {
  for (auto [number, axis] : llvm::enumerate(mesh.getAxes().getAsRange<dist::MeshAxisAttr>()))
    if (axis.getName() == name)
      return static_cast<int>(number);
  return -1;
}

pipeline::Pipeline dist::describePipeline(func::FuncOp declaration, PipelineOp op) {
  pipeline::Pipeline pipeline{
      .program = declaration.getName().str(),
      .axis = findAxis(MeshOp::lookup(declaration->getParentOfType<ModuleOp>()), op.getAxis()),
      .stages = static_cast<int>(op.getNumStages()),
      .microbatches = 0,
      .schedule = op.getSchedule().str()};
  for (func::FuncOp function : getFragments(declaration)) {
    auto fragment = function->getAttrOfType<FragmentAttr>(kFragmentAttr);
    pipeline.fragments.push_back({function.getName().str(), getTableKind(fragment.getKind()),
                                  static_cast<int>(fragment.getStage()),
                                  static_cast<int>(fragment.getLevel())});
    if (runsPerMicrobatch(fragment.getKind()))
      pipeline.microbatches = static_cast<int64_t>(op.getMicrobatches());
  }
  return pipeline;
}
