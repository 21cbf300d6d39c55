// Builds programs of generation.

#include "dialects/titan/Transforms/Model/ChunkProgram.h"
#include "dialects/dist/Support/RepeatEdit.h"
#include "dialects/titan/IR/Stacked.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Support/Views.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// An argument of rank 0 or 1 that the runtime sets for each run.
Value addScalar(func::FuncOp function, StringRef name, ArrayRef<DimAttr> dims) {
  Builder builder(function.getContext());
  NamedAttribute role = builder.getNamedAttr(attr::kScalar, builder.getStringAttr(name));
  function.insertArgument(function.getNumArguments(),
                          NamedTensorType::get(builder.getI64Type(), dims),
                          builder.getDictionaryAttr(role),
                          NameLoc::get(builder.getStringAttr(name), function.getLoc()));
  return function.getArguments().back();
}

NamedAttribute getUpdate(Builder builder, unsigned argument) {
  return builder.getNamedAttr(attr::kUpdates, builder.getI64IntegerAttr(argument));
}

/// Builds one program. Works on a clone of `logits`, whose values `mapping` maps to those of the
/// clone.
class ChunkProgram {
public:
  ChunkProgram(func::FuncOp logits, const PositionChunks &chunks, const PositionChunks *samples,
               const ChunkShape &shape)
      : logits(logits), chunks(chunks), samples(samples), shape(shape),
        function(logits.clone(mapping)) {
    MLIRContext *context = logits.getContext();
    function.setName(shape.program);
    function->setAttr(attr::kProgram, StringAttr::get(context, shape.program));
    if (shape.slots)
      slots = DimAttr::get(context, StringAttr::get(context, kSlotDim), shape.slots);
  }

  func::FuncOp build() {
    position = slots ? addScalar(function, kSlotPositionsScalar, slots)
                     : addScalar(function, kPositionScalar, {});
    setTypes(logits.getBody(), function.getBody());
    if ((slots && !areSamplesIndependent()) || failed(passPosition())) {
      function.erase();
      return nullptr;
    }
    for (OpOperand *operand : chunks.getCachedOperands())
      readCache(operand);
    for (Operation *op : chunks.getCausalOps())
      cast<CausalOpInterface>(mapping.lookup(op)).setStart(position);
    function.setFunctionType(
        FunctionType::get(function.getContext(), function.getBody().front().getArgumentTypes(),
                          function.getBody().front().getTerminator()->getOperandTypes()));
    return function;
  }

private:
  /// Passes the position to the operations and operands that depend on it.
  LogicalResult passPosition() {
    if (failed(sliceOperands()))
      return failure();
    WalkResult walk = logits.walk([&](Operation *op) -> WalkResult { return setStart(op); });
    return failure(walk.wasInterrupted());
  }

  /// Whether the slots can replace the samples: no operation depends on the number of a sample, or
  /// has an attribute with the name of their dimension, which a block may have renamed.
  bool areSamplesIndependent() const {
    auto isOfSamples = [&](Value value) {
      return samples->getDependence(value).kind == Dependence::Sliced;
    };
    auto depends = [&](Operation *op) -> WalkResult {
      auto namesSamples = [&](Value value) {
        if (!isOfSamples(value))
          return false;
        const StringAttr name =
            getTensorType(value).getDims()[samples->getDependence(value).dim].getName();
        return llvm::any_of(op->getAttrs(),
                            [&](NamedAttribute each) { return each.getValue() == name; });
      };
      return failure(isPositional(op, *samples) || llvm::any_of(op->getOperands(), namesSamples) ||
                     llvm::any_of(op->getResults(), namesSamples));
    };
    return samples->getSlicedOperands().empty() && !logits->walk(depends).wasInterrupted() &&
           llvm::all_of(chunks.getCachedOperands(),
                        [&](OpOperand *operand) { return isOfSamples(operand->get()); });
  }

  DimAttr getChunk(DimAttr whole) const {
    return DimAttr::get(whole.getContext(), whole.getName(), shape.positions, whole.getOrigin());
  }

  void setType(Value original, Value copy) const {
    SmallVector<DimAttr> dims(getTensorType(original).getDims());
    if (const Dependence rows = chunks.getDependence(original); rows.kind == Dependence::Sliced)
      dims[rows.dim] = getChunk(dims[rows.dim]);
    if (slots)
      if (const Dependence rows = samples->getDependence(original); rows.kind == Dependence::Sliced)
        dims[rows.dim] = slots;
    copy.setType(NamedTensorType::get(getTensorType(original).getElementType(), dims));
  }

  void setTypes(Region &original, Region &copy) const {
    for (auto [from, to] : llvm::zip(original.getArguments(), copy.getArguments()))
      setType(from, to);
    for (auto [from, to] : llvm::zip_equal(original.getOps(), copy.getOps())) {
      for (auto [a, b] : llvm::zip_equal(from.getResults(), to.getResults()))
        setType(a, b);
      for (auto [a, b] : llvm::zip_equal(from.getRegions(), to.getRegions()))
        setTypes(a, b);
    }
  }

  /// The operand of the copy that corresponds to `original`.
  OpOperand &getCopy(OpOperand *original) const {
    return mapping.lookup(original->getOwner())->getOpOperand(original->getOperandNumber());
  }

  LogicalResult sliceOperands() {
    for (auto [original, at] : chunks.getSlicedOperands()) {
      OpOperand &operand = getCopy(original);
      OpBuilder builder(operand.getOwner());
      DimAttr whole = getTensorType(operand.get()).getDims()[at];
      operand.set(TensorBuilder(builder, operand.getOwner()->getLoc())
                      .sliceAt(operand.get(), getChunk(whole), position));
      if (failed(addSlots(operand.get())))
        return failure();
    }
    return success();
  }

  /// Gives all values that depend on `value` the dimension of slots: `value` differs between slots,
  /// because their positions differ.
  LogicalResult addSlots(Value value) {
    if (!slots)
      return success();
    for (Operation *user : value.getUsers())
      if (failed(addSlots(user)))
        return failure();
    return success();
  }

  LogicalResult addSlots(Operation *op) {
    auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
    if (!ruled || isa<RepeatOp>(op)) // the value leaves a body, or is an iteration argument
      return failure();
    SmallVector<Value> changed;
    for (Value result : op->getResults())
      if (auto type = getTensorType(result); !type.hasDim(slots.getName())) {
        SmallVector<DimAttr> dims{slots};
        llvm::append_range(dims, type.getDims());
        result.setType(NamedTensorType::get(type.getElementType(), dims));
        changed.push_back(result);
      }
    auto isOfSlots = [&](const dist::Factor &factor) {
      return factor.name == kSlotDim && factor.kind == dist::FactorKind::Parallel &&
             llvm::all_of(factor.resultDims, [](int at) { return at >= 0; });
    };
    if (llvm::none_of(ruled.getShardingRule().factors, isOfSlots))
      return failure();
    return success(
        llvm::all_of(changed, [&](Value result) { return succeeded(addSlots(result)); }));
  }

  /// Lets the operand read a cache, into which the rows of the chunk are inserted. Rows that are
  /// other cached rows with new names read the same cache.
  void readCache(OpOperand *original) {
    OpOperand &operand = getCopy(original);
    Operation *op = operand.getOwner();
    Value rows = operand.get(), &whole = caches[{rows, op->getBlock()}];
    if (Value same = whole ? Value() : renameCache(rows, op)) {
      operand.set(same);
      return;
    }
    if (!whole) {
      const unsigned at = chunks.getDependence(original->get()).dim;
      SmallVector<DimAttr> dims(getTensorType(rows).getDims());
      dims[at] = getTensorType(original->get()).getDims()[at];
      auto type = NamedTensorType::get(getTensorType(rows).getElementType(), dims);
      Value cache = addCache(op->getBlock(), type, getSourceName(original->get()));
      OpBuilder builder(op);
      whole = builder.create<InsertSliceOp>(rows.getLoc(), type, rows, cache, position,
                                            dims[at].getName());
      returnCache(op->getBlock(), whole);
    }
    operand.set(whole);
  }

  /// The cache of the rows that `rows` renames, renamed; null if there is none.
  Value renameCache(Value rows, Operation *op) {
    auto rename = rows.getDefiningOp<RenameOp>();
    Value cache = rename ? caches.lookup({rename.getInput(), op->getBlock()}) : Value();
    if (!cache)
      return {};
    SmallVector<DimAttr> dims(getTensorType(rows).getDims());
    for (auto [dim, from, to] : llvm::zip_equal(dims, getTensorType(rename.getInput()).getDims(),
                                                getTensorType(cache).getDims()))
      if (from != to)
        dim = DimAttr::get(op->getContext(), dim.getName(), to.getSize(), dim.getOrigin());
    OpBuilder builder(op);
    return builder.create<RenameOp>(
        rows.getLoc(), NamedTensorType::get(getTensorType(rows).getElementType(), dims), cache);
  }

  /// A cache of `type` in `block`: a new argument of the function or, in bodies of repeats, the
  /// slot of a new stacked argument.
  Value addCache(Block *block, NamedTensorType type, std::string name) {
    SmallVector<Block *> bodies; // from inner to outer
    SmallVector<std::vector<int64_t>> iterations;
    while (std::optional<RepeatVariant> variant = findVariant(block)) {
      RepeatOp repeat = variant->getRepeat();
      const auto number = static_cast<int64_t>(variant->getNumber());
      bodies.push_back(block);
      type = RepeatOp::getStackedType(repeat.getStackDim(number), type);
      name = (repeat.getDim().getName().getValue() + "." + name).str();
      auto ofVariant = repeat.getIterations().getIterations(number);
      iterations.insert(iterations.begin(), {ofVariant.begin(), ofVariant.end()});
      block = repeat->getBlock();
    }
    Value cache = addCacheArgument(type, name, iterations);
    for (Block *body : llvm::reverse(bodies)) {
      std::optional<RepeatVariant> variant = findVariant(body);
      dist::addScannedInputs(variant->getRepeat(), {{cache, {variant->getNumber()}}});
      cache = body->getArguments().back();
    }
    return cache;
  }

  Value addCacheArgument(NamedTensorType type, std::string name,
                         ArrayRef<std::vector<int64_t>> iterations) {
    Builder builder(function.getContext());
    if (slots)
      name = "slots." + name;
    std::string unique = name;
    for (unsigned n = 2; !names.insert(unique).second; ++n)
      unique = name + "." + std::to_string(n);
    NamedAttrList attributes;
    attributes.set(attr::kCache, builder.getStringAttr(unique));
    if (!iterations.empty()) { // the repeats are the first segments of the name, but for `slots`
      SmallVector<int64_t> segments =
          llvm::to_vector(llvm::seq<int64_t>(slots ? 1 : 0, iterations.size() + (slots ? 1 : 0)));
      attributes.set(attr::kStacked, getStackedAttr(builder, iterations, segments));
    }
    function.insertArgument(function.getNumArguments(), type,
                            attributes.getDictionary(function.getContext()), function.getLoc());
    lastCache = function.getNumArguments() - 1;
    return function.getArguments().back();
  }

  /// Returns the next value of the last cache, through the repeats around `block`.
  void returnCache(Block *block, Value next) {
    while (std::optional<RepeatVariant> variant = findVariant(block)) {
      RepeatOp repeat = dist::addStackedOutputs(variant->getRepeat(), next);
      next = repeat.getResults().back();
      block = repeat->getBlock();
    }
    SmallVector<NamedAttribute> attributes = getSlotAttributes(function, lastCache);
    attributes.push_back(getUpdate(Builder(function.getContext()), lastCache));
    appendResult(function, next, attributes);
  }

  /// Whether the result depends on the indices of its rows, which `analysis` found.
  static bool isPositional(Operation *op, const PositionChunks &analysis) {
    if (!isa<PositionalOpInterface>(op))
      return false;
    const Dependence rows = analysis.getDependence(op->getResult(0));
    auto isOfRows = [&](const dist::Factor &factor) {
      return factor.isPositional && factor.resultDims[0] == static_cast<int>(rows.dim);
    };
    dist::ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
    return rows.kind == Dependence::Sliced && llvm::any_of(rule.factors, isOfRows);
  }

  /// Passes the position to the copy of an operation whose result depends on it.
  LogicalResult setStart(Operation *original) {
    if (!isPositional(original, chunks))
      return success();
    auto copy = cast<PositionalOpInterface>(mapping.lookup(original));
    const unsigned at = chunks.getDependence(original->getResult(0)).dim;
    OpBuilder builder(copy->getContext());
    builder.setInsertionPointAfter(copy);
    Value moved =
        copy.startAt(builder, position, getTensorType(original->getResult(0)).getDims()[at]);
    copy->getResult(0).replaceUsesWithIf(
        moved, [&](OpOperand &use) { return use.getOwner() != moved.getDefiningOp(); });
    if (slots && !getTensorType(moved).hasDim(slots.getName()))
      return failure();
    return addSlots(moved);
  }

  func::FuncOp logits;
  const PositionChunks &chunks, *samples;
  ChunkShape shape;
  IRMapping mapping;
  func::FuncOp function;
  DimAttr slots; ///< null: one text
  Value position;
  llvm::DenseMap<std::pair<Value, Block *>, Value> caches; ///< by their rows and block
  llvm::StringSet<> names;
  unsigned lastCache = 0; ///< the number of the argument
};

} // namespace

func::FuncOp titan::ir::buildChunkProgram(func::FuncOp logits, const PositionChunks &chunks,
                                          const PositionChunks *samples, const ChunkShape &shape) {
  return ChunkProgram(logits, chunks, samples, shape).build();
}
