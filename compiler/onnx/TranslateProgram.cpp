#include "compiler/onnx/TranslateProgram.h"

#include "dialects/titan/IR/AttributeNames.h"
#include "dialects/titan/IR/Stacked.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Model/PositionChunks.h"

using namespace mlir;
using namespace titan;
using namespace titan::onnx;
using namespace titan::ir;

/// Whether `dim` is the dimension of samples, also under another name.
static bool isOf(StringAttr samples, DimAttr dim) {
  return dim.getName() == samples || dim.getOrigin() == samples;
}

/// Whether the model computes each sample by itself, and `program` in a dimension of its own.
static bool areSamplesFree(func::FuncOp program, StringAttr samples) {
  auto logits = program->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>("logits");
  PositionChunks::Obstacle obstacle;
  if (!logits || failed(PositionChunks::find(logits, samples, obstacle)))
    return false;
  auto countSamples = [&](Value value) {
    return llvm::count_if(getTensorType(value).getDims(),
                          [&](DimAttr dim) { return isOf(samples, dim); });
  };
  return !program
              .walk([&](Operation *op) {
                return isa<MergeOp, SplitOp>(op) &&
                               countSamples(op->getOperand(0)) != countSamples(op->getResult(0))
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

static std::string nameSymbol(Symbol symbol) {
  switch (symbol) {
  case Symbol::Batch:
    return "samples";
  case Symbol::Sequence:
    return "sequence";
  case Symbol::Past:
    return "past_sequence";
  }
  return "";
}

/// `past_sequence + sequence`.
static Dim makeDim(const Extent &extent) {
  if (extent.isKnown())
    return {extent.constant, ""};
  std::string text;
  for (auto symbol : {Symbol::Batch, Symbol::Past, Symbol::Sequence})
    if (extent.counts[static_cast<size_t>(symbol)])
      text += (text.empty() ? "" : " + ") + nameSymbol(symbol);
  return {0, text + (extent.constant ? " + " + std::to_string(extent.constant) : "")};
}

static ValueInfo makeInfo(std::string name, const Tensor &tensor) {
  ValueInfo info{std::move(name), tensor.type, {}};
  for (const Axis &axis : tensor.axes)
    info.dims.push_back(makeDim(axis.extent));
  return info;
}

FailureOr<Tensor> onnx::readAsInput(Translation &translation, const ParameterSlot &slot) {
  Tensor tensor{slot.name, slot.type, slot.axes};
  translation.getGraph().addInput(makeInfo(slot.name, tensor));
  return tensor;
}

namespace {

class ProgramTranslation {
public:
  ProgramTranslation(func::FuncOp program, const Lengths &lengths, const ReadParameter &read)
      : program(program), dims(DataDimsAttr::lookup(program)), read(read),
        samplesAreFree(dims && areSamplesFree(program, dims.getSamples())),
        graph(program.getName()), translation(graph, [this, &lengths](DimAttr dim) {
          return samplesAreFree && dim.getSize() == 1 && isOf(dims.getSamples(), dim)
                     ? Extent::of(Symbol::Batch)
                     : lengths.getExtent(dim);
        }) {}

  FailureOr<Graph> run() {
    Block &block = program.getBody().front();
    for (bool areScalars : {false, true}) // scalars are sizes of other arguments
      for (BlockArgument argument : block.getArguments())
        if (isScalar(argument) == areScalars && failed(addArgument(argument)))
          return failure();
    if (failed(translation.translate(block)))
      return failure();
    for (OpOperand &operand : block.getTerminator()->getOpOperands())
      addResult(operand.getOperandNumber(), operand.get());
    return graph.finish();
  }

private:
  StringAttr getName(unsigned argument, StringRef role) {
    return program.getArgAttrOfType<StringAttr>(argument, role);
  }

  bool isScalar(BlockArgument argument) {
    return static_cast<bool>(getName(argument.getArgNumber(), attr::kScalar));
  }

  LogicalResult addArgument(BlockArgument argument) {
    const unsigned number = argument.getArgNumber();
    if (StringAttr name = getName(number, attr::kParam))
      return addParameter(argument, name);
    if (StringAttr name = getName(number, attr::kCache))
      return addCache(argument, name);
    if (StringAttr name = getName(number, attr::kInput))
      return addInput(argument, name);
    if (StringAttr name = getName(number, attr::kScalar); name && name == kPositionScalar)
      translation.set(argument, translation.size(Extent::of(Symbol::Past)));
    else if (!argument.use_empty())
      return program.emitError("an export to ONNX has no value for the argument ")
             << (name ? name.getValue() : "of a step");
    return success();
  }

  /// Calls `add` for each slot of a stacked argument, with its name.
  LogicalResult addSlots(BlockArgument argument, StringRef name,
                         function_ref<FailureOr<Tensor>(ParameterSlot)> add) {
    const NamedTensorType type = getTensorType(argument);
    const Stack stack = getStack(program.getArgAttr(argument.getArgNumber(), attr::kStacked), type);
    SmallVector<Axis> axes = translation.getAxes(type);
    axes.erase(axes.begin(), axes.begin() + stack.iterations.size());
    Stacked slots;
    for (const auto &iterations : stack.iterations)
      slots.sizes.push_back(static_cast<int64_t>(iterations.size()));
    for (auto [i, slotName] : llvm::enumerate(getSlotNames(name, stack))) {
      ParameterSlot slot{name, slotName, {}, axes, translation.getType(type)};
      size_t rest = i;
      for (const auto &iterations : llvm::reverse(stack.iterations)) {
        slot.iterations.insert(slot.iterations.begin(), iterations[rest % iterations.size()]);
        rest /= iterations.size();
      }
      FailureOr<Tensor> tensor = add(std::move(slot));
      if (failed(tensor))
        return failure();
      slots.slots.push_back(std::move(*tensor));
    }
    if (stack.iterations.empty())
      translation.set(argument, std::move(slots.slots.front()));
    else
      translation.set(argument, std::move(slots));
    return success();
  }

  LogicalResult addParameter(BlockArgument argument, StringRef name) {
    if (argument.use_empty())
      return success();
    return addSlots(argument, name,
                    [&](const ParameterSlot &slot) { return read(translation, slot); });
  }

  LogicalResult addCache(BlockArgument argument, StringRef name) {
    translation.setCache(argument);
    return addSlots(argument, name, [&](const ParameterSlot &slot) -> FailureOr<Tensor> {
      Tensor cache{"past." + slot.name, slot.type, slot.axes};
      const int64_t at = cache.find(dims.getPositions());
      cache.axes[at].extent = Extent::of(Symbol::Past);
      addInputTensor(cache);
      return cache;
    });
  }

  LogicalResult addInput(BlockArgument argument, StringRef name) {
    const NamedTensorType type = getTensorType(argument);
    const Tensor input{name == "tokens" ? "input_ids" : name.str(), translation.getType(type),
                       translation.getAxes(type)};
    if (!argument.use_empty())
      addInputTensor(input);
    translation.set(argument, input);
    return success();
  }

  /// Adds an input. The first that has a size of the inputs as an axis is the source of it.
  void addInputTensor(const Tensor &input) {
    graph.addInput(makeInfo(input.name, input));
    for (auto [i, axis] : llvm::enumerate(input.axes))
      for (auto symbol : {Symbol::Batch, Symbol::Sequence, Symbol::Past})
        if (axis.extent == Extent::of(symbol) && !llvm::is_contained(found, symbol)) {
          translation.setSource(symbol, input.name, static_cast<int64_t>(i));
          found.push_back(symbol);
        }
  }

  void addResult(unsigned number, Value value) {
    if (auto updated = program.getResultAttrOfType<IntegerAttr>(number, attr::kUpdates))
      return addNextCache(static_cast<unsigned>(updated.getInt()), value);
    if (auto name = program.getResultAttrOfType<StringAttr>(number, attr::kOutput)) {
      const Tensor result = translation.get(value);
      graph.addOutput(result.name, makeInfo(name.str(), result));
    }
  }

  void addNextCache(unsigned argument, Value value) {
    const StringAttr name = getName(argument, attr::kCache);
    if (!name)
      return;
    const Stack stack = getStack(program.getArgAttr(argument, attr::kStacked),
                                 cast<NamedTensorType>(program.getArgumentTypes()[argument]));
    for (auto [slot, tensor] :
         llvm::zip_equal(getSlotNames(name, stack), translation.getSlots(value).slots))
      graph.addOutput(tensor.name, makeInfo("present." + slot, tensor));
  }

  func::FuncOp program;
  DataDimsAttr dims;
  const ReadParameter &read;
  bool samplesAreFree;
  GraphBuilder graph;
  onnx::Translation translation;
  SmallVector<Symbol> found; ///< those that an input has
};

} // namespace

FailureOr<Graph> onnx::translateProgram(func::FuncOp program, const Lengths &lengths,
                                        const ReadParameter &readParameter) {
  return ProgramTranslation(program, lengths, readParameter).run();
}
