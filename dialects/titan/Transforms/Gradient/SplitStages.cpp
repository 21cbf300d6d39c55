// The pass --titan-split-stages: cuts repeats over the pipelined dimension into stages.
//
// A repeat over a pipelined dimension becomes one repeat per stage. The iteration arguments of a
// stage are the results of the stage before. The layers of several repeats are counted one after
// the other: a stage may have the end of one repeat and the beginning of the next. Tensors with
// slots for the layers are divided: arguments and updates of the function become one per stage,
// other scanned inputs are sliced.

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Stacked.h"
#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANSPLITSTAGES
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Stage `number` runs the iterations `first` to `end` - 1 of a repeat.
struct Stage {
  int64_t number, first, end;
};

/// A range of the slots of a stack.
struct Slots {
  int64_t first, count;
};

/// The values of a divided tensor, one per stage. Null for a stage without slots.
using StageValues = SmallVector<Value>;

/// Splits the repeats of one program function.
class StageSplitter {
public:
  StageSplitter(func::FuncOp function, dist::PipelineOp pipeline);

  LogicalResult run();
  unsigned getNumRepeats() const { return repeats.size(); }
  unsigned getNumArguments() const { return arguments.size(); }

private:
  LogicalResult verifySizes();
  LogicalResult verifyFirstLayers();
  SmallVector<Stage> getStages(RepeatOp repeat);
  LogicalResult verifyStackedOutput(OpResult output);
  LogicalResult splitArgument(RepeatOp repeat, unsigned number);
  DictionaryAttr getStageAttributes(unsigned argument, Stage stage, Slots slots);
  Value getStageInput(OpBuilder &builder, RepeatOp repeat, unsigned number, Stage stage);
  RepeatOp createStage(RepeatOp repeat, Stage stage, ValueRange inits);
  void splitRepeat(RepeatOp repeat);
  void returnStages(unsigned result, ArrayRef<Value> values, ArrayRef<Value> targets);
  LogicalResult splitUpdates();
  void eraseWhole();

  func::FuncOp function;
  Operation *terminator;
  dist::PipelineOp pipeline;
  SmallVector<RepeatOp> repeats;    ///< before the division
  SmallVector<int64_t> firstLayers; ///< of each repeat, the layers of the model before it
  /// For each divided argument and stacked output, its values.
  llvm::MapVector<Value, StageValues> arguments, outputs;
  /// For each result of the function, the argument that it updates; null if it updates none.
  SmallVector<Value> updated;
};

} // namespace

/// The iterations of `repeat` that have a slot in scanned input `number`.
static SmallVector<int64_t> getScannedIterations(RepeatOp repeat, unsigned number) {
  return repeat.getIterations().getIterations(repeat.getScannedUsers(number));
}

/// The slots of `stage` in a stack with slots for `iterations`.
static Slots getSlots(ArrayRef<int64_t> iterations, Stage stage) {
  const auto *first = llvm::lower_bound(iterations, stage.first);
  const auto *end = llvm::lower_bound(iterations, stage.end);
  return {first - iterations.begin(), end - first};
}

static DimAttr getStageDim(RepeatOp repeat, Stage stage) {
  return RepeatOp::getStackDim(repeat.getDim(), stage.end - stage.first);
}

/// The type of a stack that has `count` slots in `stage`.
static NamedTensorType getStageType(RepeatOp repeat, Stage stage, NamedTensorType whole,
                                    int64_t count) {
  DimAttr dim = RepeatOp::getStackDim(getStageDim(repeat, stage), count);
  return RepeatOp::getStackedType(dim, RepeatOp::getSlotType(whole));
}

/// The first layer of `repeat`: that of `titan.first_layer`, or else `next`.
static int64_t getFirstLayer(RepeatOp repeat, int64_t next) {
  auto first = repeat->getAttrOfType<IntegerAttr>(attr::kFirstLayer);
  return first ? first.getInt() : next;
}

StageSplitter::StageSplitter(func::FuncOp function, dist::PipelineOp pipeline)
    : function(function), terminator(function.getBody().front().getTerminator()),
      pipeline(pipeline) {
  int64_t next = 0;
  for (auto repeat : function.getBody().getOps<RepeatOp>())
    if (pipeline.isOver(repeat.getDim().getName()) && !repeat.getReverse()) {
      repeats.push_back(repeat);
      firstLayers.push_back(getFirstLayer(repeat, next));
      next = firstLayers.back() + repeat.getDim().getSize();
    }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto target = function.getResultAttrOfType<IntegerAttr>(i, attr::kUpdates);
    updated.push_back(target ? Value(function.getArgument(target.getInt())) : Value());
  }
}

/// Whether each repeat has layers of its own in the pipeline.
LogicalResult StageSplitter::verifyFirstLayers() {
  SmallVector<bool> isTaken(pipeline.getNumLayers(), false);
  for (auto [repeat, first] : llvm::zip_equal(repeats, firstLayers))
    for (int64_t layer = first; layer < first + repeat.getDim().getSize(); ++layer)
      if (layer < 0 || layer >= pipeline.getNumLayers() || std::exchange(isTaken[layer], true))
        return repeat->emitError("has layer ")
               << layer << ", which is a layer of another repeat, or not one of the "
               << pipeline.getNumLayers() << " of the pipeline";
  return success();
}

LogicalResult StageSplitter::verifySizes() {
  if (llvm::any_of(repeats, [](RepeatOp repeat) { return repeat->hasAttr(attr::kFirstLayer); }))
    return verifyFirstLayers();
  int64_t iterations = 0;
  for (RepeatOp repeat : repeats)
    iterations += repeat.getDim().getSize();
  if (repeats.empty() || iterations == pipeline.getNumLayers())
    return success();
  return repeats.front().emitError("has ")
         << iterations << " iterations"
         << (repeats.size() > 1 ? ", with the repeats behind it," : ",")
         << " but the stages of the pipeline have " << pipeline.getNumLayers();
}

/// The stages that run iterations of `repeat`.
SmallVector<Stage> StageSplitter::getStages(RepeatOp repeat) {
  const int64_t before = firstLayers[llvm::find(repeats, repeat) - repeats.begin()];
  SmallVector<Stage> stages;
  int64_t first = -before;
  for (auto [number, layers] : llvm::enumerate(pipeline.getLayersPerStage())) {
    Stage stage{static_cast<int64_t>(number), std::max<int64_t>(first, 0),
                std::min(first + layers, repeat.getDim().getSize())};
    first += layers;
    if (stage.first < stage.end)
      stages.push_back(stage);
  }
  return stages;
}

/// A stacked output is divided only where it updates a divided argument.
LogicalResult StageSplitter::verifyStackedOutput(OpResult output) {
  for (OpOperand &use : output.getUses()) {
    bool isUpdate = use.getOwner() == terminator && updated[use.getOperandNumber()];
    if (isUpdate &&
        llvm::is_contained(updated[use.getOperandNumber()].getUsers(), output.getOwner()))
      continue;
    InFlightDiagnostic error = output.getOwner()->emitError(
        "stacks a value of all layers that is used after the repeat; a pipeline can only divide "
        "the next values of buffers");
    error.attachNote(use.getOwner()->getLoc()) << "used here";
    return error;
  }
  return success();
}

/// Replaces scanned input `number`, an argument of the function, by one argument per stage.
LogicalResult StageSplitter::splitArgument(RepeatOp repeat, unsigned number) {
  auto whole = cast<BlockArgument>(repeat.getScannedInputs()[number]);
  if (!whole.hasOneUse()) {
    InFlightDiagnostic error =
        repeat.emitError("scans a tensor that is used elsewhere, too; a pipeline cannot divide it");
    error.attachNote(whole.getLoc()) << "the tensor";
    return error;
  }
  SmallVector<int64_t> iterations = getScannedIterations(repeat, number);
  StageValues values(pipeline.getNumStages());
  const unsigned next = whole.getArgNumber() + 1;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<int64_t> stages; // with slots
  for (Stage stage : getStages(repeat)) {
    Slots slots = getSlots(iterations, stage);
    if (slots.count == 0)
      continue;
    types.push_back(getStageType(repeat, stage, getTensorType(whole), slots.count));
    attributes.push_back(getStageAttributes(whole.getArgNumber(), stage, slots));
    stages.push_back(stage.number);
  }
  // All at once: every change of the function's type takes time in proportion to its size.
  function.insertArguments(SmallVector<unsigned>(types.size(), next), types, attributes,
                           SmallVector<Location>(types.size(), whole.getLoc()));
  for (auto [i, stage] : llvm::enumerate(stages))
    values[stage] = function.getArgument(next + i);
  arguments.insert({whole, values});
  return success();
}

/// The attributes of `argument` for its slots in `stage`.
DictionaryAttr StageSplitter::getStageAttributes(unsigned argument, Stage stage, Slots slots) {
  Builder builder(function.getContext());
  NamedAttrList attributes(function.getArgAttrDict(argument));
  Stack stack =
      getStack(attributes.get(attr::kStacked), getTensorType(function.getArgument(argument)));
  SmallVector<std::vector<int64_t>> iterations;
  for (ArrayRef<int64_t> level : stack.iterations)
    iterations.emplace_back(level.begin(), level.end());
  const size_t numSlots = iterations.front().size();
  iterations.front() = ArrayRef(iterations.front()).slice(slots.first, slots.count).vec();
  attributes.set(attr::kStacked, getStackedAttr(builder, iterations, stack.segments));
  attributes.set(attr::kStage, builder.getI64IntegerAttr(stage.number));
  auto init = dyn_cast_or_null<InitAttr>(attributes.get(attr::kInit));
  if (init && init.getScale().size() > 1) {
    const int64_t inner = init.getScale().size() / numSlots; // of nested repeats
    ArrayRef<double> scales =
        init.getScale().asArrayRef().slice(slots.first * inner, slots.count * inner);
    attributes.set(attr::kInit, InitAttr::get(builder.getContext(), init.getKind(),
                                              builder.getDenseF64ArrayAttr(scales), init.getCut()));
  }
  return attributes.getDictionary(builder.getContext());
}

/// Scanned input `number` for `stage`, which has slots in it.
Value StageSplitter::getStageInput(OpBuilder &builder, RepeatOp repeat, unsigned number,
                                   Stage stage) {
  Value whole = repeat.getScannedInputs()[number];
  if (auto found = arguments.find(whole); found != arguments.end())
    return found->second[stage.number];
  Slots slots = getSlots(getScannedIterations(repeat, number), stage);
  return builder.create<SliceOp>(
      whole.getLoc(), getStageType(repeat, stage, getTensorType(whole), slots.count), whole,
      getTensorType(whole).getDims().front().getName(), slots.first);
}

/// The variants that `stage` runs, ascending. Their positions are their numbers in the stage.
static SmallVector<int64_t> getStageVariants(const IterationTable &table, Stage stage) {
  SmallVector<int64_t> variants;
  for (int64_t layer = stage.first; layer < stage.end; ++layer)
    variants.push_back(table.getVariant(layer));
  llvm::sort(variants);
  variants.erase(llvm::unique(variants), variants.end());
  return variants;
}

static IterationTable getStageTable(const IterationTable &table, ArrayRef<int64_t> variants,
                                    Stage stage) {
  SmallVector<int64_t> numbers;
  for (int64_t layer = stage.first; layer < stage.end; ++layer)
    numbers.push_back(llvm::find(variants, table.getVariant(layer)) - variants.begin());
  return IterationTable(std::move(numbers));
}

/// The numbers, in the stage, of those `variants` of the stage that are in `users`.
static SmallVector<int64_t> getStageUsers(ArrayRef<int64_t> users, ArrayRef<int64_t> variants) {
  SmallVector<int64_t> numbers;
  for (auto [number, variant] : llvm::enumerate(variants))
    if (llvm::is_contained(users, variant))
      numbers.push_back(number);
  return numbers;
}

/// Lets the body compute with the number of the layer in the model: its index plus `first`.
static void shiftIndex(RepeatVariant body, int64_t first) {
  BlockArgument index = body.getIndex();
  if (first == 0 || index.use_empty())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&body.getBlock());
  TensorBuilder math(builder, index.getLoc());
  Value layer = math.add(index, math.constant(first, index));
  index.replaceAllUsesExcept(layer, layer.getDefiningOp());
}

/// Creates the repeat of `stage`, with the iteration arguments `inits`.
RepeatOp StageSplitter::createStage(RepeatOp repeat, Stage stage, ValueRange inits) {
  OpBuilder builder(repeat);
  IterationTable table = repeat.getIterations();
  SmallVector<int64_t> variants = getStageVariants(table, stage);
  SmallVector<Value> inputs, stacked; // with slots in this stage
  SmallVector<Type> types(repeat.getIterResults().getTypes());
  VariantLists scannedUsers, stackedUsers;
  for (unsigned i = 0; i < repeat.getScannedInputs().size(); ++i) {
    SmallVector<int64_t> users = getStageUsers(repeat.getScannedUsers(i), variants);
    if (users.empty())
      continue;
    inputs.push_back(getStageInput(builder, repeat, i, stage));
    scannedUsers.push_back(users);
  }
  for (auto [i, output] : llvm::enumerate(repeat.getStackedOutputs())) {
    SmallVector<int64_t> users = getStageUsers(repeat.getStackedUsers(i), variants);
    if (users.empty())
      continue;
    int64_t count = getSlots(table.getIterations(repeat.getStackedUsers(i)), stage).count;
    types.push_back(getStageType(repeat, stage, getTensorType(output), count));
    stackedUsers.push_back(users);
    stacked.push_back(output);
  }
  auto created = builder.create<RepeatOp>(repeat.getLoc(), types, getStageDim(repeat, stage),
                                          /*reverse=*/false, getStageTable(table, variants, stage),
                                          inits, inputs, scannedUsers, stackedUsers);
  for (auto [whole, value] : llvm::zip_equal(stacked, created.getStackedOutputs())) {
    outputs[whole].resize(pipeline.getNumStages());
    outputs[whole][stage.number] = value;
  }
  for (auto [number, variant] : llvm::enumerate(variants)) {
    IRMapping mapping;
    repeat.getBodies()[variant].cloneInto(&created.getBodies()[number], mapping);
    shiftIndex(created.getVariant(number), stage.first);
  }
  created->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  created->removeAttr(attr::kFirstLayer);
  created->setAttr(attr::kStage, builder.getI64IntegerAttr(stage.number));
  return created;
}

void StageSplitter::splitRepeat(RepeatOp repeat) {
  SmallVector<Value> iterArgs(repeat.getInits());
  for (Stage stage : getStages(repeat)) {
    RepeatOp created = createStage(repeat, stage, iterArgs);
    iterArgs.assign(created.getIterResults().begin(), created.getIterResults().end());
  }
  repeat.getIterResults().replaceAllUsesWith(iterArgs);
}

/// Returns `values` instead of `result`; each updates the argument of its stage in `targets`.
void StageSplitter::returnStages(unsigned result, ArrayRef<Value> values, ArrayRef<Value> targets) {
  unsigned next = result;
  function.eraseResult(result);
  terminator->eraseOperand(result);
  updated.erase(updated.begin() + result);
  for (auto [value, target] : llvm::zip_equal(values, targets)) {
    if (!target)
      continue;
    auto slots = getSlotAttributes(function, cast<BlockArgument>(target).getArgNumber());
    function.insertResult(next, value.getType(), DictionaryAttr::get(function.getContext(), slots));
    terminator->insertOperands(next, value);
    updated.insert(updated.begin() + next, target);
    ++next;
  }
}

LogicalResult StageSplitter::splitUpdates() {
  for (unsigned result = updated.size(); result-- > 0;) {
    auto targets = arguments.find(updated[result]);
    if (targets == arguments.end())
      continue;
    auto values = outputs.find(terminator->getOperand(result));
    if (values == outputs.end())
      return function.emitError("result ")
             << result << " updates a tensor of all layers by a value that no layer yields; a "
             << "pipeline cannot divide it";
    returnStages(result, values->second, targets->second);
  }
  return success();
}

/// Erases the repeats and arguments that were divided, and renumbers the arguments that results
/// update.
void StageSplitter::eraseWhole() {
  for (RepeatOp repeat : repeats)
    repeat.erase();
  llvm::BitVector divided(function.getNumArguments());
  for (const auto &[whole, values] : arguments)
    divided.set(cast<BlockArgument>(whole).getArgNumber());
  function.eraseArguments(divided);
  Builder builder(function.getContext());
  for (auto [result, target] : llvm::enumerate(updated))
    if (target)
      function.setResultAttr(result, attr::kUpdates,
                             builder.getI64IntegerAttr(cast<BlockArgument>(target).getArgNumber()));
}

LogicalResult StageSplitter::run() {
  if (failed(verifySizes()))
    return failure();
  for (RepeatOp repeat : repeats)
    for (Value output : repeat.getStackedOutputs())
      if (failed(verifyStackedOutput(cast<OpResult>(output))))
        return failure();
  for (RepeatOp repeat : repeats)
    for (auto [i, input] : llvm::enumerate(repeat.getScannedInputs())) {
      auto argument = dyn_cast<BlockArgument>(input);
      if (argument && function.getArgAttr(argument.getArgNumber(), attr::kStacked) &&
          failed(splitArgument(repeat, i)))
        return failure();
    }
  for (RepeatOp repeat : repeats)
    splitRepeat(repeat);
  if (failed(splitUpdates()))
    return failure();
  eraseWhole();
  return success();
}

namespace {
struct SplitStages : titan::ir::impl::TitanSplitStagesBase<SplitStages> {
  using TitanSplitStagesBase::TitanSplitStagesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    dist::PipelineOp pipeline = dist::PipelineOp::lookup(function);
    if (!pipeline || !function->hasAttr(attr::kProgram) || function.isExternal())
      return;
    StageSplitter splitter(function, pipeline);
    if (failed(splitter.run()))
      return signalPassFailure();
    TITAN_COUNT(splitRepeats, splitter.getNumRepeats());
    TITAN_COUNT(splitArguments, splitter.getNumArguments());
  }
};
} // namespace
