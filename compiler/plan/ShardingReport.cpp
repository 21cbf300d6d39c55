#include "compiler/plan/ShardingReport.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/Support/Programs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>

using namespace mlir;

namespace titan::plan {

static std::vector<std::string> getStrings(ArrayAttr names) {
  std::vector<std::string> strings;
  for (auto name : names.getAsRange<StringAttr>())
    strings.push_back(name.str());
  return strings;
}

static TensorLayout getLayout(StringRef name, Value value) {
  TensorLayout layout;
  layout.name = name.str();
  auto type = cast<ir::NamedTensorType>(value.getType());
  dist::ShardingAttr sharding = type.getShardingOrReplicated();
  for (auto [dim, axes] : llvm::zip_equal(type.getDims(), sharding.getDimAxes())) {
    layout.dims.push_back(dim.getName().str());
    layout.axes.push_back(getStrings(axes));
  }
  layout.flat = getStrings(sharding.getFlatAxes());
  if (auto location = value.getLoc()->findInstanceOf<FileLineColLoc>()) {
    layout.file = location.getFilename().str();
    layout.line = location.getLine();
  }
  return layout;
}

/// The train programs; without any, the first function.
static SmallVector<func::FuncOp> findPrograms(ModuleOp module) {
  SmallVector<func::FuncOp> programs = ir::getTrainPrograms(module);
  auto all = module.getOps<func::FuncOp>();
  if (programs.empty() && !all.empty())
    programs.push_back(*all.begin());
  return programs;
}

static std::vector<TensorLayout> getLayouts(func::FuncOp function) {
  std::vector<TensorLayout> layouts;
  for (BlockArgument argument : function.getArguments())
    if (auto name =
            function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), ir::attr::kParam)) {
      layouts.push_back(getLayout(name, argument));
      layouts.back().isParameter = true;
    }
  llvm::StringSet<> seen; // the cotangent of a sharding constraint has the same name
  for (BlockArgument argument : function.getArguments())
    if (auto name =
            function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), ir::attr::kInput);
        name && seen.insert(name).second)
      layouts.push_back(getLayout(name, argument));
  function.walk<WalkOrder::PreOrder>([&](ir::ShardingConstraintOp constraint) {
    if (StringRef name = ir::getName(constraint); !name.empty() && seen.insert(name).second)
      layouts.push_back(getLayout(name, constraint.getResult()));
  });
  return layouts;
}

/// Adds the layouts of tensors that `layouts` lacks; parameters precede other values.
static void merge(std::vector<TensorLayout> added, std::vector<TensorLayout> &layouts) {
  llvm::StringSet<> known;
  for (const TensorLayout &layout : layouts)
    known.insert(layout.name);
  for (TensorLayout &layout : added)
    if (!known.count(layout.name))
      layouts.push_back(std::move(layout));
  std::stable_partition(layouts.begin(), layouts.end(),
                        [](const TensorLayout &layout) { return layout.isParameter; });
}

ShardingReport reportSharding(ModuleOp beforeSharding) {
  OwningOpRef<ModuleOp> module = beforeSharding.clone();
  PassManager passes(module->getContext());
  passes.addPass(dist::createDistPadDimensions()); // padding changes the local sizes
  passes.addPass(dist::createDistAssignShardings());
  if (failed(passes.run(*module)))
    return {};
  ShardingReport report;
  FailureOr<dist::MeshView> mesh = dist::MeshView::get(*module);
  for (func::FuncOp function : findPrograms(*module)) {
    merge(getLayouts(function), report.layouts);
    if (failed(mesh))
      continue;
    if (auto conflicts = dist::reportConflicts(function, *mesh); succeeded(conflicts))
      llvm::append_range(report.conflicts, *conflicts);
  }
  return report;
}

static std::string joinNames(const std::vector<std::string> &names) {
  std::string all;
  for (const std::string &name : names)
    all += (all.empty() ? "" : ", ") + name;
  return all;
}

std::string TensorLayout::print() const {
  std::vector<std::string> texts;
  for (auto [dim, shardingAxes] : llvm::zip_equal(dims, axes)) {
    texts.push_back(dim);
    for (const std::string &axis : shardingAxes)
      texts.back() += " / " + axis;
  }
  return "[" + joinNames(texts) + "]" + (flat.empty() ? "" : " over " + joinNames(flat));
}

} // namespace titan::plan
