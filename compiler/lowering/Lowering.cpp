#include "compiler/lowering/Lowering.h"
#include "compiler/lowering/OpLowering.h"
#include "compiler/lowering/OptimizerLowering.h"
#include "compiler/lowering/RunAttributes.h"
#include "compiler/lowering/ScheduleLowering.h"

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Stacked.h"
#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/Support/Programs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace titan::lowering {
namespace {

/// Lowers one program function: the operations that its outputs need, and the roles of arguments
/// and results.
class ProgramLowering {
public:
  ProgramLowering(const sema::CheckedRun &run, const sema::Model &model,
                  const SourceManager &sources, OpBuilder &builder,
                  ArrayRef<Attribute> optimizers = {}, ArrayRef<Attribute> schedules = {})
      : run(run), model(model), translation(model, sources, builder.getContext()), builder(builder),
        optimizers(optimizers), schedules(schedules) {}

  func::FuncOp lower(StringRef name, ArrayRef<sema::Output> outputs) {
    std::vector<sema::ValueId> roots;
    SmallVector<Type> results;
    for (const sema::Output &output : outputs) {
      roots.push_back(output.value);
      results.push_back(translation.type(model.values[output.value].type));
    }
    sema::Reachability needs(model, roots, /*updates=*/name == "train" || name == "merge");
    OpLowering ops(translation, model, needs, builder);
    SmallVector<Type> arguments;
    SmallVector<DictionaryAttr> roles;
    addArguments(name, needs, arguments, roles);
    const SmallVector<StringRef> scalars = listScalars(name, needs);
    for (StringRef scalar : scalars)
      addScalar(scalar, arguments, roles);
    auto func = func::FuncOp::create(translation.loc(model.loc, name), name,
                                     builder.getFunctionType(arguments, results));
    func->setAttr(ir::attr::kProgram, builder.getStringAttr(name));
    func->setAttr(ir::attr::kPrecision,
                  makePrecisionAttribute(run.run, translation, builder.getContext()));
    func.setAllArgAttrs(roles);
    for (auto [i, output] : llvm::enumerate(outputs))
      func.setResultAttr(i, ir::attr::kOutput, builder.getStringAttr(output.name));
    Block *block = func.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    bindArguments(name, needs, ops, *block);
    ops.isTraining = name == "train";
    ops.marksBlocks = name == "train" && !run.run["recompute.blocks"].elements.empty();
    for (auto [scalar, argument] :
         llvm::zip_equal(scalars, block->getArguments().take_back(scalars.size())))
      ops.scalars[scalar] = argument;
    ops.lower(model.body);
    SmallVector<Value> returned;
    for (const sema::Output &output : outputs)
      returned.push_back(ops[output.value]);
    builder.create<func::ReturnOp>(func.getLoc(), returned);
    if (needs.updates)
      returnUpdates(func, ops);
    return func;
  }

private:
  /// Inputs first, then parameters, each in source order.
  void addArguments(StringRef name, const sema::Reachability &needs, SmallVector<Type> &types,
                    SmallVector<DictionaryAttr> &roles) {
    for (auto [i, input] : llvm::enumerate(model.inputs)) {
      if (!needs.inputs.count(i))
        continue;
      types.push_back(translation.type(input.type));
      roles.push_back(makeInputAttributes(run, input, builder));
    }
    for (auto [i, parameter] : llvm::enumerate(model.parameters)) {
      if (!isArgument(name, needs, static_cast<uint32_t>(i)))
        continue;
      types.push_back(translation.type(parameter));
      SmallVector<NamedAttribute> role;
      auto set = [&](StringRef name, Attribute value) {
        role.push_back(builder.getNamedAttr(name, value));
      };
      set(ir::attr::kParam, builder.getStringAttr(parameter.name));
      set(ir::attr::kInit, translation.init(parameter));
      if (parameter.isBuffer)
        set(ir::attr::kBuffer, builder.getUnitAttr());
      else
        addGroupAttributes(run.run, parameter, builder, role);
      if (name == "train" && run.updates.functionOf[i]) {
        set(ir::attr::kUpdatedBy, optimizers[*run.updates.functionOf[i]]);
        if (std::optional<size_t> schedule = run.groupSchedules.functionOf[i])
          set(ir::attr::kScheduledBy, schedules[*schedule]);
        addTurnAttributes(run.run, model, parameter, builder, role);
      }
      if (!parameter.repeats.empty())
        set(ir::attr::kStacked,
            ir::getStackedAttr(builder, parameter.iterations, parameter.repeatSegments));
      if (parameter.frozen)
        set(ir::attr::kFrozen, builder.getUnitAttr());
      if (parameter.initFrom == "optional" || parameter.initFrom == "partial")
        set(ir::attr::kInitFrom, builder.getStringAttr(parameter.initFrom));
      roles.push_back(builder.getDictionaryAttr(role));
    }
  }

  /// Frozen parameters that nothing reads belong to the weights of a run, too: files have them.
  bool isArgument(StringRef name, const sema::Reachability &needs, uint32_t index) const {
    return needs.parameters.count(index) || (name == "train" && model.parameters[index].frozen);
  }

  /// The scalars that the program needs. Programs share them, so @train has those of @logits, too.
  SmallVector<StringRef> listScalars(StringRef name, const sema::Reachability &needs) const {
    const bool trains = name == "train", computesOutputs = name == "logits";
    std::vector<sema::ValueId> roots;
    for (const sema::Output &output : run.logits.outputs)
      roots.push_back(output.value);
    const sema::Reachability outputs(run.logits, roots);
    const bool drawsInTraining = trains && (needs.isRandom || needs.hasDropout);
    const bool drawsOutputs = (trains || computesOutputs) && outputs.isRandom;
    SmallVector<StringRef> scalars;
    if (drawsInTraining || drawsOutputs)
      scalars.push_back(kSeed);
    if (drawsInTraining || needs.usesStep || (trains && outputs.usesStep))
      scalars.push_back(kStep);
    if (drawsOutputs)
      scalars.push_back(kSample);
    return scalars;
  }

  /// A scalar that the runtime sets before it runs the program.
  void addScalar(StringRef name, SmallVector<Type> &types, SmallVector<DictionaryAttr> &roles) {
    types.push_back(ir::NamedTensorType::get(builder.getI64Type(), {}));
    roles.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(ir::attr::kScalar, builder.getStringAttr(name))));
  }

  void bindArguments(StringRef name, const sema::Reachability &needs, OpLowering &ops,
                     Block &block) {
    unsigned next = 0;
    for (auto [i, input] : llvm::enumerate(model.inputs))
      if (needs.inputs.count(i)) {
        BlockArgument argument = block.getArgument(next++);
        argument.setLoc(translation.loc(input.loc, input.name));
        ops.inputs[i] = argument;
      }
    for (auto [i, parameter] : llvm::enumerate(model.parameters))
      if (isArgument(name, needs, static_cast<uint32_t>(i))) {
        BlockArgument argument = block.getArgument(next++);
        argument.setLoc(translation.loc(parameter.loc, parameter.name));
        ops.parameters[i] = argument;
      }
  }

  /// Returns the next values of parameters, marked with the argument that they replace.
  void returnUpdates(func::FuncOp func, const OpLowering &ops) {
    for (auto [i, parameter] : llvm::enumerate(model.parameters)) {
      if (!parameter.isUpdated)
        continue;
      unsigned number = cast<BlockArgument>(ops.parameters.lookup(i)).getArgNumber();
      SmallVector<NamedAttribute> role{
          builder.getNamedAttr(ir::attr::kUpdates, builder.getI64IntegerAttr(number))};
      llvm::append_range(role, ir::getSlotAttributes(func, number));
      ir::appendResult(func, ops.updates.lookup(i), role);
    }
  }

  const sema::CheckedRun &run;
  const sema::Model &model;
  Translation translation;
  OpBuilder &builder;
  ArrayRef<Attribute> optimizers, schedules; ///< symbols
};

/// Appends the metrics of the model.
void addMetrics(const sema::Model &model, std::vector<sema::Output> &outputs) {
  for (const sema::Output &metric : model.metrics)
    outputs.push_back({ir::getMetricOutput(metric.name), metric.value, metric.loc});
}

/// The losses of training and evaluation: the loss, and the named losses of which it is the sum.
std::vector<sema::Output> listLossOutputs(const sema::Model &model) {
  std::vector<sema::Output> outputs{{"loss", *model.loss, model.loc}};
  for (const sema::Output &loss : model.losses)
    if (!loss.name.empty())
      outputs.push_back({ir::getLossOutput(loss.name), loss.value, loss.loc});
  return outputs;
}

std::vector<sema::Output> listTrainOutputs(const sema::CheckedRun &run) {
  std::vector<sema::Output> outputs = listLossOutputs(run.train);
  if (run.run["metrics.training"].boolean())
    addMetrics(run.train, outputs);
  return outputs;
}

/// If there are named losses, evaluation also returns the loss without a name, for the perplexity.
std::vector<sema::Output> listEvalOutputs(const sema::Model &model) {
  std::vector<sema::Output> outputs = listLossOutputs(model);
  if (model.losses.size() > 1)
    for (const sema::Output &loss : model.losses)
      if (loss.name.empty())
        outputs.push_back({ir::getLossOutput(""), loss.value, loss.loc});
  addMetrics(model, outputs);
  return outputs;
}

} // namespace

OwningOpRef<ModuleOp> lower(const sema::CheckedRun &run, const SourceManager &sources,
                            MLIRContext &context) {
  context.loadDialect<func::FuncDialect, ir::TitanDialect, dist::DistDialect>();
  OpBuilder builder(&context);
  Translation translation(run.train, sources, &context);
  mlir::Location loc = translation.loc(run.run.loc, run.run.name);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  addMesh(run, builder, translation);
  setRunAttributes(run, sources, *module);
  if (run.schedule)
    lowerSchedule(*run.schedule, sources, builder);
  if (run.train.loss) {
    SmallVector<Attribute> optimizers = lowerOptimizers(run.updates, sources, builder);
    SmallVector<Attribute> schedules = lowerGroupSchedules(run.groupSchedules, sources, builder);
    ProgramLowering program(run, run.train, sources, builder, optimizers, schedules);
    func::FuncOp train = program.lower("train", listTrainOutputs(run));
    addStepAttributes(run.run, builder, train);
    // The stages of a pipeline process microbatches, even if there is one only.
    if (int64_t microbatches = run.run["accumulate"].integer; microbatches > 1 || run.mesh.pipeline)
      train->setAttr(
          ir::attr::kAccumulate,
          builder.getDictionaryAttr(
              {builder.getNamedAttr("dim", builder.getStringAttr(run.run.dims.samples)),
               builder.getNamedAttr("microbatches", builder.getI64IntegerAttr(microbatches))}));
    if (int64_t chunks = run.run["loss_chunks"].integer)
      train->setAttr(ir::attr::kLossChunks, builder.getI64IntegerAttr(chunks));
    module->push_back(train);
    if (run.run.evaluates())
      module->push_back(program.lower("eval", listEvalOutputs(run.train)));
  }
  if (!run.logits.outputs.empty()) {
    ProgramLowering program(run, run.logits, sources, builder);
    module->push_back(program.lower("logits", run.logits.outputs));
  }
  if (run.merge && !run.merge->body.ops.empty()) {
    ProgramLowering program(run, *run.merge, sources, builder);
    module->push_back(program.lower("merge", {}));
  }
  if (failed(verify(*module)))
    return {};
  return module;
}

} // namespace titan::lowering
