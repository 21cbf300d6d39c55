// Builds the program @admit, which copies the caches of one text to a slot.

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Model/ChunkProgram.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// A cache of one text, and the cache of the same operand with all slots.
struct CachePair {
  Value text, texts;
  unsigned argument; ///< the number of `texts` in the function
};

/// @admit has as arguments the number of the slot and each cache of `decode` and of `batch`. It
/// returns the next values of the caches of `batch`.
class AdmitProgram {
public:
  AdmitProgram(func::FuncOp decode, func::FuncOp batch)
      : decode(decode), batch(batch), builder(decode.getContext()),
        function(func::FuncOp::create(decode.getLoc(), kAdmitProgram,
                                      builder.getFunctionType({}, {}))) {}

  func::FuncOp build() {
    function->setAttr(attr::kProgram, builder.getStringAttr(kAdmitProgram));
    if (Attribute precision = decode->getAttr(attr::kPrecision))
      function->setAttr(attr::kPrecision, precision);
    builder.setInsertionPointToEnd(function.addEntryBlock());
    builder.setInsertionPoint(builder.create<func::ReturnOp>(decode.getLoc()));
    NamedAttribute role = builder.getNamedAttr(attr::kScalar, builder.getStringAttr(kSlotScalar));
    slot =
        addArgument(NamedTensorType::get(builder.getI64Type(), {}), builder.getDictionaryAttr(role),
                    NameLoc::get(builder.getStringAttr(kSlotScalar), decode.getLoc()));
    SmallVector<unsigned> textCaches = findCaches(decode), slotCaches = findCaches(batch);
    for (auto [one, all] : llvm::zip_equal(textCaches, slotCaches)) {
      CachePair pair{addCache(decode, one), addCache(batch, all), function.getNumArguments() - 1};
      OpOperand &use = *batch.getArgument(all).getUses().begin();
      if (auto repeat = dyn_cast<RepeatOp>(use.getOwner()))
        repeats[repeat].push_back({pair, repeat.getScannedUsers(getScannedNumber(repeat, use))});
      else
        update(pair, insert(pair.text, pair.texts));
    }
    for (auto &[repeat, caches] : repeats)
      insertInRepeat(repeat, caches);
    return function;
  }

private:
  /// The caches that a repeat scans, each with the variants that scan it.
  using RepeatCaches = SmallVector<std::pair<CachePair, SmallVector<int64_t>>>;

  /// The numbers of the arguments that are caches.
  static SmallVector<unsigned> findCaches(func::FuncOp from) {
    return llvm::to_vector(
        llvm::make_filter_range(llvm::seq(from.getNumArguments()), [=](unsigned i) mutable {
          return bool(from.getArgAttr(i, attr::kCache));
        }));
  }

  static unsigned getScannedNumber(RepeatOp repeat, OpOperand &use) {
    return use.getOperandNumber() - repeat.getScannedInputs().getBeginOperandIndex();
  }

  Value addArgument(NamedTensorType type, DictionaryAttr attributes, Location loc) {
    function.insertArgument(function.getNumArguments(), type, attributes, loc);
    return function.getArguments().back();
  }

  Value addCache(func::FuncOp from, unsigned i) {
    return addArgument(getTensorType(from.getArgument(i)), from.getArgAttrDict(i),
                       from.getArgument(i).getLoc());
  }

  /// Returns `next` as the next value of the cache of all slots.
  void update(const CachePair &pair, Value next) {
    SmallVector<NamedAttribute> attributes = getSlotAttributes(function, pair.argument);
    attributes.push_back(
        builder.getNamedAttr(attr::kUpdates, builder.getI64IntegerAttr(pair.argument)));
    appendResult(function, next, attributes);
  }

  /// `texts` with `text` in the slot.
  Value insert(Value text, Value texts) {
    SmallVector<DimAttr> dims(getTensorType(texts).getDims());
    StringAttr name = builder.getStringAttr(kSlotDim);
    dims[getTensorType(texts).findDimIndex(name)] = DimAttr::get(builder.getContext(), name, 1);
    Value renamed = builder.create<RenameOp>(
        text.getLoc(), NamedTensorType::get(getTensorType(text).getElementType(), dims), text);
    return builder.create<InsertSliceOp>(text.getLoc(), texts.getType(), renamed, texts, slot,
                                         name);
  }

  /// Inserts stacked caches in a repeat with the iterations of `repeat`, so that a pipeline can
  /// divide this repeat, too.
  void insertInRepeat(RepeatOp repeat, const RepeatCaches &caches) {
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    VariantLists scannedUsers, stackedUsers;
    for (const auto &[pair, users] : caches) {
      inputs.append({pair.text, pair.texts});
      types.push_back(pair.texts.getType());
      scannedUsers.insert(scannedUsers.end(), 2, users);
      stackedUsers.push_back(users);
    }
    auto created =
        builder.create<RepeatOp>(repeat.getLoc(), types, repeat.getDim(),
                                 /*reverse=*/false, repeat.getIterations(),
                                 /*inits=*/ValueRange(), inputs, scannedUsers, stackedUsers);
    if (Attribute first = repeat->getAttr(attr::kFirstLayer))
      created->setAttr(attr::kFirstLayer, first);
    OpBuilder::InsertionGuard guard(builder);
    for (auto [number, body] : llvm::enumerate(created.getBodies())) {
      Block *block = builder.createBlock(&body);
      block->addArgument(slot.getType(), repeat.getLoc()); // the iteration
      SmallVector<Value> inserted;
      for (const auto &[pair, users] : caches)
        if (llvm::is_contained(users, static_cast<int64_t>(number))) {
          Value text = addSlot(block, pair.text), texts = addSlot(block, pair.texts);
          inserted.push_back(insert(text, texts));
        }
      builder.create<YieldOp>(repeat.getLoc(), inserted);
    }
    for (auto [cache, next] : llvm::zip_equal(caches, created.getStackedOutputs()))
      update(cache.first, next);
  }

  static Value addSlot(Block *block, Value stack) {
    return block->addArgument(RepeatOp::getSlotType(getTensorType(stack)), stack.getLoc());
  }

  func::FuncOp decode, batch;
  OpBuilder builder;
  func::FuncOp function;
  Value slot;
  llvm::MapVector<RepeatOp, RepeatCaches> repeats;
};

} // namespace

func::FuncOp titan::ir::buildAdmitProgram(func::FuncOp decode, func::FuncOp batch) {
  return AdmitProgram(decode, batch).build();
}
