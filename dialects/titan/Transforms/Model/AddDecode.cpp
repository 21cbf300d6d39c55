//===- AddDecode.cpp - The pass --titan-add-decode ------------------------===//

#include "dialects/dist/IR/AutoAxis.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/dist/Support/RepeatEdit.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Model/Passes.h"
#include "dialects/titan/Transforms/Model/PositionChunks.h"
#include "dialects/titan/Transforms/Model/UnusedIterArgs.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANADDDECODE
#include "dialects/titan/Transforms/Model/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// A program of generation: a copy of @logits for `size` positions from the scalar `position` on.
class ChunkProgram {
public:
  ChunkProgram(func::FuncOp logits, const PositionChunks &chunks, StringRef name, int64_t size)
      : logits(logits), chunks(chunks), size(size), function(logits.clone(mapping)) {
    function.setName(name);
    function->setAttr(attr::kProgram, StringAttr::get(logits.getContext(), name));
  }

  func::FuncOp build() {
    addPosition();
    setTypes(logits.getBody(), function.getBody());
    sliceOperands();
    for (OpOperand *operand : chunks.getCachedOperands())
      readCache(operand);
    for (Operation *op : chunks.getCausalOps())
      cast<CausalOpInterface>(mapping.lookup(op)).setStart(position);
    logits.walk([&](Operation *op) { setStart(op); });
    function.setFunctionType(
        FunctionType::get(function.getContext(), function.getBody().front().getArgumentTypes(),
                          function.getBody().front().getTerminator()->getOperandTypes()));
    return function;
  }

private:
  void addPosition() {
    Builder builder(function.getContext());
    NamedAttribute role =
        builder.getNamedAttr(attr::kScalar, builder.getStringAttr(kPositionScalar));
    function.insertArgument(function.getNumArguments(),
                            NamedTensorType::get(builder.getI64Type(), {}),
                            builder.getDictionaryAttr(role), function.getLoc());
    position = function.getArguments().back();
  }

  DimAttr getChunk(DimAttr whole) const {
    return DimAttr::get(whole.getContext(), whole.getName(), size, whole.getOrigin());
  }

  void setType(Value original, Value copy) const {
    const Dependence rows = chunks.get(original);
    if (rows.kind != Dependence::Sliced)
      return;
    auto type = cast<NamedTensorType>(original.getType());
    SmallVector<DimAttr> dims(type.getDims());
    dims[rows.dim] = getChunk(dims[rows.dim]);
    copy.setType(NamedTensorType::get(type.getElementType(), dims));
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

  void sliceOperands() {
    for (auto [original, at] : chunks.getSlicedOperands()) {
      OpOperand &operand = getCopy(original);
      OpBuilder builder(operand.getOwner());
      auto type = cast<NamedTensorType>(operand.get().getType());
      operand.set(TensorBuilder(builder, operand.getOwner()->getLoc())
                      .sliceAt(operand.get(), getChunk(type.getDims()[at]), position));
    }
  }

  /// Inserts the rows of the chunk into the cache of the operand, which then has all rows before.
  void readCache(OpOperand *original) {
    OpOperand &operand = getCopy(original);
    Operation *op = operand.getOwner();
    Value rows = operand.get(), &whole = caches[{rows, op->getBlock()}];
    if (!whole) {
      auto type = cast<NamedTensorType>(original->get().getType());
      Value cache = addCache(op->getBlock(), type, getSourceName(original->get()));
      OpBuilder builder(op);
      whole =
          builder.create<InsertSliceOp>(rows.getLoc(), type, rows, cache, position,
                                        type.getDims()[chunks.get(original->get()).dim].getName());
      returnCache(op->getBlock(), whole);
    }
    operand.set(whole);
  }

  /// A cache of `type` in `block`: an argument of the function, or what a repeat scans of one.
  Value addCache(Block *block, NamedTensorType type, std::string name) {
    if (std::optional<RepeatVariant> variant = findVariant(block)) {
      RepeatOp repeat = variant->getRepeat();
      const unsigned number = variant->getNumber();
      DimAttr dim = repeat.getStackDim(static_cast<int64_t>(number));
      Value stack = addCache(repeat->getBlock(), RepeatOp::getStackedType(dim, type),
                             (repeat.getDim().getName().getValue() + "." + name).str());
      dist::addScannedInputs(repeat, {{stack, number}});
      return block->getArguments().back();
    }
    Builder builder(function.getContext());
    std::string unique = name;
    for (unsigned n = 2; !names.insert(unique).second; ++n)
      unique = name + "." + std::to_string(n);
    NamedAttribute role = builder.getNamedAttr(attr::kCache, builder.getStringAttr(unique));
    function.insertArgument(function.getNumArguments(), type, builder.getDictionaryAttr(role),
                            function.getLoc());
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
    Builder builder(function.getContext());
    appendResult(function, next,
                 builder.getNamedAttr(attr::kUpdates, builder.getI64IntegerAttr(lastCache)));
  }

  /// Passes the position to the copy of an operation whose result depends on it.
  void setStart(Operation *original) {
    if (!isa<PositionalOpInterface>(original))
      return;
    const Dependence rows = chunks.get(original->getResult(0));
    auto isOfRows = [&](const dist::Factor &factor) {
      return factor.isPositional && factor.resultDims[0] == static_cast<int>(rows.dim);
    };
    dist::ShardingRule rule = cast<ShardingRuleOpInterface>(original).getShardingRule();
    if (rows.kind != Dependence::Sliced || llvm::none_of(rule.factors, isOfRows))
      return;
    auto copy = cast<PositionalOpInterface>(mapping.lookup(original));
    DimAttr whole = cast<NamedTensorType>(original->getResult(0).getType()).getDims()[rows.dim];
    OpBuilder builder(copy->getContext());
    builder.setInsertionPointAfter(copy);
    Value moved = copy.startAt(builder, position, whole);
    copy->getResult(0).replaceUsesWithIf(
        moved, [&](OpOperand &use) { return use.getOwner() != moved.getDefiningOp(); });
  }

  func::FuncOp logits;
  const PositionChunks &chunks;
  int64_t size;
  IRMapping mapping;
  func::FuncOp function;
  Value position;
  llvm::DenseMap<std::pair<Value, Block *>, Value> caches; ///< by rows
  llvm::StringSet<> names;
  unsigned lastCache = 0; ///< the number of the argument
};

} // namespace

/// `model.titan:12: reduce relates positions to one another`
static std::string describe(const PositionChunks::Obstacle &obstacle) {
  std::string text;
  if (auto at = obstacle.op->getLoc()->findInstanceOf<FileLineColLoc>())
    text = at.getFilename().str() + ":" + std::to_string(at.getLine()) + ": ";
  return text + obstacle.op->getName().stripDialect().str() + " " + obstacle.why;
}

/// Whether an axis whose degree the launch decides may shard positions. It must divide them all.
static bool areShardedAtLaunch(ModuleOp module) {
  dist::MeshAxisAttr axis = dist::findAutoAxis(dist::MeshOp::lookup(module));
  auto positions = StringAttr::get(module.getContext(), kPositionDim);
  return axis && llvm::any_of(module.getOps<dist::AxisRulesOp>(), [&](dist::AxisRulesOp rules) {
           return rules.getAxisAttr() == axis.getName() &&
                  (llvm::is_contained(rules.getShards(), positions) ||
                   llvm::is_contained(rules.getFallback(), positions));
         });
}

/// The largest divisor of `whole` up to `most`.
static int64_t getChunkSize(int64_t whole, int64_t most) {
  int64_t size = std::min(whole, most);
  while (whole % size)
    --size;
  return size;
}

namespace {
struct AddDecode : titan::ir::impl::TitanAddDecodeBase<AddDecode> {
  using TitanAddDecodeBase::TitanAddDecodeBase;

  void runOnOperation() override {
    auto logits = getOperation().lookupSymbol<func::FuncOp>("logits");
    const int64_t positions = logits ? countPositions(logits) : 0;
    if (positions <= 1 || getOperation().lookupSymbol("decode")) // it may have run already
      return;
    if (!getOperation().getOps<dist::PipelineOp>().empty())
      return refuse(logits, "the stages of a pipeline compute whole texts");
    // What the losses alone need may sum over positions.
    dropUnusedIterArgs(logits.getBody());
    PositionChunks::Obstacle obstacle;
    FailureOr<PositionChunks> chunks =
        PositionChunks::find(logits, StringAttr::get(&getContext(), kPositionDim), obstacle);
    if (failed(chunks))
      return refuse(logits, describe(obstacle));
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    const int64_t most = areShardedAtLaunch(getOperation()) ? positions : prefill;
    if (const int64_t size = getChunkSize(positions, most); size > 1)
      builder.insert(ChunkProgram(logits, *chunks, "prefill", size).build());
    builder.insert(ChunkProgram(logits, *chunks, "decode", 1).build());
  }

  static void refuse(func::FuncOp logits, StringRef reason) {
    logits->setAttr(attr::kUncached, StringAttr::get(logits.getContext(), reason));
  }
};
} // namespace
