#include "compiler/plan/DescribeStep.h"

#include "compiler/plan/KernelWork.h"
#include "compiler/plan/MemoryReport.h"
#include "dialects/dist/Analysis/CollectiveReport.h"
#include "dialects/titan/IR/RepeatVariant.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/Turns.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "llvm/ADT/StringSwitch.h"

#include <set>

using namespace mlir;

namespace titan::plan {
namespace {

SourceLine getSourceLine(Operation *op) {
  if (auto line = op->getLoc()->findInstanceOf<FileLineColLoc>())
    return {line.getFilename().str(), line.getLine()};
  return {};
}

CollectiveWork::Kind getKind(Operation *op) {
  using Kind = CollectiveWork::Kind;
  return llvm::StringSwitch<Kind>(op->getName().stripDialect())
      .Case("all_gather", Kind::AllGather)
      .Case("reduce_scatter", Kind::ReduceScatter)
      .Case("all_reduce", Kind::AllReduce)
      .Case("all_to_all", Kind::AllToAll)
      .Default(Kind::Permute);
}

/// Describes the operations of functions.
class Describer {
public:
  Describer(const StepProgram &step, const dist::Degrees &degrees) : step(step), degrees(degrees) {}

  StepItems describe(Region &region) {
    StepItems items;
    for (Operation &op : region.getOps())
      add(items, op);
    return items;
  }

private:
  void add(StepItems &items, Operation &op) {
    auto push = [&](auto what) {
      items.push_back({ir::getAction(&op), getSourceLine(&op), std::move(what)});
    };
    if (auto repeat = dyn_cast<ir::RepeatOp>(op)) {
      push(describe(repeat));
    } else if (auto wait = dyn_cast<dist::WaitOp>(op)) {
      if (started.contains(wait.getChannel()))
        push(StepWait{static_cast<int64_t>(wait.getChannel())});
    } else if (dist::isCollective(&op)) {
      if (runs(&op))
        push(describeCollective(&op));
    } else if (std::optional<KernelWork> work = countWork(&op, degrees)) {
      push(StepKernel{std::move(*work)});
    }
  }

  StepCollective describeCollective(Operation *op) {
    StepCollective collective;
    collective.work.kind = getKind(op);
    for (auto axis : op->getAttrOfType<ArrayAttr>("axes").getAsRange<StringAttr>())
      collective.work.axes.push_back(
          static_cast<int>(llvm::find(step.axes, axis.getValue()) - step.axes.begin()));
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      collective.work.bytesSent += static_cast<double>(dist::getBytesSent(op, i, degrees));
    collective.work.messages = dist::countCalls(op, degrees);
    if (std::optional<int64_t> channel = dist::getStartChannel(op)) {
      collective.channel = *channel;
      started.insert(*channel);
    }
    return collective;
  }

  /// Consecutive iterations with the same body and the same collectives are one body of the loop.
  StepLoop describe(ir::RepeatOp repeat) {
    StepLoop loop;
    const ir::IterationTable table = repeat.getIterations();
    const SmallVector<ir::RepeatVariant> variants = llvm::to_vector(repeat.getVariants());
    const std::set<int64_t> changes = findChanges(table, variants);
    for (auto at = changes.begin(); std::next(at) != changes.end(); ++at) {
      ir::RepeatVariant variant = variants[table.getVariant(*at)];
      iterations[variant.getIndex()] = *at;
      loop.bodies.push_back({*std::next(at) - *at, describe(variant.getRegion())});
    }
    return loop;
  }

  /// The first iterations that may differ from the one before: those that run another body, and
  /// those from which on a collective prefetches a layer that does not exist, or does. Also the
  /// number of iterations.
  static std::set<int64_t> findChanges(const ir::IterationTable &table,
                                       ArrayRef<ir::RepeatVariant> variants) {
    const int64_t count = table.getNumIterations();
    std::set<int64_t> changes{0, count};
    for (int64_t at = 1; at < static_cast<int64_t>(table.getVariants().size()); ++at)
      if (table.getVariant(at) != table.getVariant(at - 1))
        changes.insert(at);
    for (const ir::RepeatVariant &variant : variants)
      for (Operation &op : variant.getRegion().getOps())
        if (dist::LayerOp layer = dist::isCollective(&op) ? dist::getLayer(&op) : nullptr;
            layer && layer.getIndex() == variant.getIndex()) {
          const auto offset = static_cast<int64_t>(layer.getOffset());
          for (int64_t at : {-offset, layer.getStack().getType().getDims()[0].getSize() - offset})
            if (at > 0 && at < count)
              changes.insert(at);
        }
    return changes;
  }

  /// Whether a collective runs in the current iterations.
  bool runs(Operation *op) {
    dist::LayerOp layer = dist::getLayer(op);
    if (!layer || !layer.getIndex())
      return true;
    auto found = iterations.find(layer.getIndex());
    return found == iterations.end() || layer.exists(found->second);
  }

  const StepProgram &step;
  const dist::Degrees &degrees;
  llvm::DenseMap<Value, int64_t> iterations; ///< by the index of a repeat
  llvm::DenseSet<int64_t> started;           ///< channels
};

void addMesh(ModuleOp module, const dist::Degrees &degrees, StepProgram &step) {
  dist::MeshOp mesh = dist::MeshOp::lookup(module);
  if (!mesh)
    return;
  for (auto axis : mesh.getAxes().getAsRange<dist::MeshAxisAttr>()) {
    step.axes.push_back(axis.getName().str());
    step.degrees.push_back(static_cast<int>(degrees.lookup(axis.getName().getValue())));
  }
}

/// The calls and messages of one rank of a pipeline, for the program `declaration`.
StepProgram::Rank describeRank(func::FuncOp declaration, const pipeline::RankPlan &plan,
                               const dist::Degrees &degrees) {
  StepProgram::Rank rank;
  SmallVector<func::FuncOp> fragments = dist::getFragments(declaration);
  for (const pipeline::PlannedCall &call : plan.calls)
    rank.calls.push_back({fragments[static_cast<size_t>(call.fragment.fragment)].getName().str(),
                          call.name, 1, call.receives, call.waits, call.sends});
  auto allocations =
      declaration->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(memory::kPersistent);
  for (const pipeline::Message &message : plan.messages) {
    auto allocation =
        cast<ir::AllocationAttr>(allocations[static_cast<size_t>(message.allocation)]);
    rank.messages.push_back(
        {message.offset, static_cast<double>(getBytes(allocation, degrees)), message.isSend});
  }
  rank.lastWaits = plan.lastWaits;
  return rank;
}

void addPipeline(func::FuncOp declaration, const dist::Degrees &degrees,
                 const std::vector<pipeline::Pipelines> &ranks, StepProgram &step) {
  step.pipelineAxis = ranks.front().axis();
  for (const pipeline::Pipelines &rank : ranks)
    if (const pipeline::RankPlan *plan = rank.find(declaration.getName().str()))
      step.ranks.push_back(describeRank(declaration, *plan, degrees));
}

double countTokens(ModuleOp module) {
  double tokens = 1;
  if (auto sizes = module->getAttrOfType<DictionaryAttr>(ir::attr::kSizes))
    for (StringRef role : {"samples", "positions"})
      if (auto size = sizes.getAs<IntegerAttr>(role))
        tokens *= static_cast<double>(size.getInt());
  return tokens;
}

void addTotals(ModuleOp module, StepProgram &step) {
  step.tokens = countTokens(module);
  if (auto flops = module->getAttrOfType<FloatAttr>(ir::attr::kFlopsPerToken))
    step.flops = flops.getValueAsDouble() * step.tokens;
  if (auto flops = module->getAttrOfType<FloatAttr>(ir::attr::kModelFlopsPerToken))
    step.modelFlops = flops.getValueAsDouble() * step.tokens;
}

/// Adds the operations of products by element type.
void addProducts(const StepItems &items, double times, std::map<std::string, double> &flops) {
  for (const StepItem &item : items) {
    if (auto *kernel = std::get_if<StepKernel>(&item.what);
        kernel && kernel->work.kind == KernelKind::Product)
      flops[kernel->work.type] += times * kernel->work.flops;
    if (auto *loop = std::get_if<StepLoop>(&item.what))
      for (const StepLoop::Body &body : loop->bodies)
        addProducts(body.items, times * static_cast<double>(body.count), flops);
  }
}

std::string findMainType(const StepProgram &step) {
  std::map<std::string, double> flops;
  for (const auto &[name, items] : step.functions)
    addProducts(items, 1, flops);
  auto most =
      llvm::max_element(flops, [](const auto &a, const auto &b) { return a.second < b.second; });
  return most == flops.end() ? "f32" : most->first;
}

} // namespace

StepProgram describeStep(ModuleOp module, const dist::Degrees &degrees,
                         const std::vector<pipeline::Pipelines> &ranks) {
  StepProgram step;
  addMesh(module, degrees, step);
  for (auto function : module.getOps<func::FuncOp>()) {
    const bool isFragment = function->hasAttr(dist::kFragmentAttr) &&
                            dist::getProgramName(function).split('.').first == "train";
    if (isFragment || ir::isTrainProgram(function))
      step.functions[function.getName().str()] =
          Describer(step, degrees).describe(function.getBody());
    if (function->hasAttr(dist::kFragmentsAttr) && function.getName() == "train")
      addPipeline(function, degrees, ranks, step);
  }
  if (step.ranks.empty()) {
    step.ranks.emplace_back();
    for (func::FuncOp function : ir::getTrainPrograms(module)) {
      auto turn = function->getAttrOfType<ir::TurnAttr>(ir::attr::kTurn);
      step.ranks.back().calls.push_back({function.getName().str(),
                                         function.getName().str(),
                                         turn ? computeStepFraction(ir::getTurn(turn)) : 1,
                                         {},
                                         {},
                                         {}});
    }
  }
  addTotals(module, step);
  step.type = findMainType(step);
  return step;
}

} // namespace titan::plan
