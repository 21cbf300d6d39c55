// The steps of a phase, and the verifiers after inserted passes.

#include "compiler/pipelines/PhaseSteps.h"
#include "compiler/pipelines/PipelineText.h"
#include "dialects/dist/Transforms/Overlap/Passes.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/IR/AttributeNames.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "dialects/titan/Transforms/Memory/Passes.h"
#include "dialects/titan/Transforms/Model/Passes.h"

#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace titan::pipelines {
namespace {

/// A verifier, and the phases after which its invariants hold.
struct Verifier {
  llvm::StringLiteral first, last;
  void (*add)(OpPassManager &manager);
};

} // namespace

static void addDistVerify(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(dist::createDistVerify());
}

static void addOverlapVerifiers(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(dist::createDistVerifyOverlap());
  manager.addNestedPass<func::FuncOp>(dist::createDistVerifyMessages());
}

// The model phase promises that no optimizer exists yet, the gradient phase that gradients have the
// types of their parameters. Later phases change both.
static constexpr Verifier kVerifiers[] = {
    {"model", "model",
     [](OpPassManager &manager) { manager.addPass(ir::createTitanVerifyModelPhase()); }},
    {"gradient", "gradient",
     [](OpPassManager &manager) {
       manager.addNestedPass<func::FuncOp>(ir::createTitanVerifyGradientPhase());
     }},
    {"shard", "memory", addDistVerify},
    {"overlap", "memory", addOverlapVerifiers},
    {"memory", "memory",
     [](OpPassManager &manager) { manager.addPass(memory::createTitanVerifyMemory()); }},
};

void addVerifiers(const Phase &phase, OpPassManager &manager) {
  for (const Verifier &verifier : kVerifiers)
    if (findPhase(verifier.first) <= &phase && &phase <= findPhase(verifier.last))
      verifier.add(manager);
}

std::string printPasses(const Phase &phase, const RunSettings &settings) {
  OpPassManager manager(ModuleOp::getOperationName());
  phase.build(manager, settings);
  std::string text;
  llvm::raw_string_ostream stream(text);
  manager.printAsTextualPipeline(stream);
  StringRef passes = stream.str();
  passes.consume_front("builtin.module(");
  passes.consume_back(")");
  return passes.str();
}

/// A step for an insertion before or after the whole phase. Before the model phase, the operations
/// alone have invariants.
static PhaseStep makeInserted(const Phase &phase, const Insertion &insertion) {
  const Phase *verified = &phase;
  if (insertion.isBefore)
    verified = &phase == getPhases().begin() ? nullptr : &phase - 1;
  return {[verified, insertion](OpPassManager &manager) -> LogicalResult {
            if (failed(parsePassPipeline(insertion.pass, manager)))
              return failure();
            if (verified)
              addVerifiers(*verified, manager);
            return success();
          },
          {insertion.text}};
}

/// The step of the phase itself, with insertions next to its passes.
static PhaseStep makeOwn(const Phase &phase, const RunSettings &settings,
                         std::vector<Insertion> adjacent) {
  if (adjacent.empty())
    return {[&](OpPassManager &manager) {
      phase.build(manager, settings);
      return success();
    }};
  std::vector<std::string> texts;
  for (const Insertion &insertion : adjacent)
    texts.push_back(insertion.text);
  return {[&, adjacent](OpPassManager &manager) -> LogicalResult {
            std::string passes = printPasses(phase, settings);
            for (const Insertion &each : adjacent)
              passes =
                  insertPass(passes, {each.pass, each.neighbour, each.isBefore, each.leavesNest})
                      .value_or(passes);
            if (failed(parsePassPipeline(passes, manager)))
              return failure();
            addVerifiers(phase, manager);
            return success();
          },
          texts};
}

/// Appends texts to an array of strings of the module.
static void append(ModuleOp module, StringRef name, llvm::ArrayRef<std::string> texts) {
  Builder builder(module.getContext());
  SmallVector<Attribute> all;
  if (auto known = module->getAttrOfType<ArrayAttr>(name))
    llvm::append_range(all, known);
  for (const std::string &text : texts)
    if (Attribute attribute = builder.getStringAttr(text);
        name == ir::attr::kInserted || !llvm::is_contained(all, attribute))
      all.push_back(attribute);
  if (!all.empty())
    module->setAttr(name, builder.getArrayAttr(all));
}

void recordInsertions(ModuleOp module, llvm::ArrayRef<std::string> inserted) {
  if (inserted.empty())
    return;
  append(module, ir::attr::kInserted, inserted);
  append(module, ir::attr::kPlugins, getPlugins());
}

void recordPhase(ModuleOp module, const Phase &phase) {
  module->setAttr(ir::attr::kPhase, Builder(module.getContext()).getStringAttr(phase.name));
}

std::vector<PhaseStep> makeSteps(const Phase &phase, const RunSettings &settings,
                                 llvm::ArrayRef<Insertion> insertions) {
  std::vector<PhaseStep> before, after;
  std::vector<Insertion> adjacent;
  for (const Insertion &insertion : insertions) {
    if (insertion.phase != phase.name)
      continue;
    if (!insertion.neighbour.empty())
      adjacent.push_back(insertion);
    else
      (insertion.isBefore ? before : after).push_back(makeInserted(phase, insertion));
  }
  before.push_back(makeOwn(phase, settings, adjacent));
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

} // namespace titan::pipelines
