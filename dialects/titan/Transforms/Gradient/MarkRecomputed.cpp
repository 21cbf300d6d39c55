// The pass --titan-mark-recomputed: marks the operations that the backward pass recomputes.
//
// The pass translates its options, a recomputation policy, into marks on operations. If only some
// layers of a variant are recomputed, the variant becomes two. Later passes read only the marks.

#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/IR/IRMapping.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANMARKRECOMPUTED
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

namespace {

/// Which operations of which layers the backward pass recomputes: the options of the pass.
struct Policy {
  bool isNone() const {
    return !isFull && !every && layers.empty() && saved.empty() && blocks.empty();
  }

  /// Whether the policy selects this layer.
  bool recomputes(int64_t layer) const {
    if (every)
      return (layer + 1) % every == 0;
    return layers.empty() || llvm::is_contained(layers, layer);
  }

  /// Whether the policy applies to the blocks that contain `op`.
  bool covers(Operation &op) const {
    auto enclosing = op.getAttrOfType<ArrayAttr>(attr::kBlocks);
    return blocks.empty() || (enclosing && llvm::any_of(enclosing.getAsValueRange<StringAttr>(),
                                                        [&](StringRef block) {
                                                          return llvm::is_contained(blocks, block);
                                                        }));
  }

  /// Whether the policy stores the results of `op` instead. It calls a contraction `matmul`.
  bool saves(Operation &op) const {
    StringRef word =
        isa<ContractOp, GroupedContractOp>(op) ? "matmul" : op.getName().stripDialect();
    return llvm::is_contained(saved, word);
  }

  bool isFull;
  int64_t every;
  ArrayRef<int64_t> layers;
  ArrayRef<std::string> saved, blocks;
};

/// The variants of a repeat, specialised by whether their iterations are recomputed.
struct Specialisation {
  Specialisation(RepeatOp repeat, const Policy &policy) {
    IterationTable old = repeat.getIterations();
    for (int64_t layer = 0; layer < old.getNumIterations(); ++layer) {
      std::pair<int64_t, bool> kind{old.getVariant(layer), policy.recomputes(layer)};
      auto found = llvm::find(kinds, kind);
      table.push_back(found - kinds.begin());
      if (found == kinds.end())
        kinds.push_back(kind);
    }
  }

  /// Lists of old variants as lists of the new variants.
  VariantLists getUsers(const VariantLists &old) const {
    VariantLists lists;
    for (ArrayRef<int64_t> users : old) {
      SmallVector<int64_t> &list = lists.emplace_back();
      for (auto [number, kind] : llvm::enumerate(kinds))
        if (llvm::is_contained(users, kind.first))
          list.push_back(number);
    }
    return lists;
  }

  /// For each new variant: the old variant, and whether it is recomputed.
  SmallVector<std::pair<int64_t, bool>> kinds;
  SmallVector<int64_t> table; ///< the new variant of each iteration
};

} // namespace

static RepeatOp specialise(RepeatOp repeat, const Specialisation &specialisation) {
  OpBuilder builder(repeat);
  auto specialised = builder.create<RepeatOp>(
      repeat.getLoc(), repeat.getResultTypes(), repeat.getDim(), repeat.getReverse(),
      IterationTable(specialisation.table), repeat.getInits(), repeat.getScannedInputs(),
      specialisation.getUsers(repeat.getAllScannedUsers()),
      specialisation.getUsers(repeat.getAllStackedUsers()));
  specialised->setDiscardableAttrs(repeat->getDiscardableAttrDictionary());
  for (auto [number, kind] : llvm::enumerate(specialisation.kinds)) {
    IRMapping mapping;
    repeat.getBodies()[kind.first].cloneInto(&specialised.getBodies()[number], mapping);
  }
  repeat.replaceAllUsesWith(specialised);
  repeat.erase();
  return specialised;
}

/// Marks the operations that the policy covers and does not save. A nested repeat is either marked
/// as a whole, or its operations are visited.
static void markBody(Block &body, const Policy &policy) {
  for (Operation &op : body.without_terminator()) {
    if (!policy.covers(op)) {
      for (Region &region : op.getRegions())
        markBody(region.front(), policy);
    } else if (!policy.saves(op)) {
      op.setAttr(attr::kRecompute, UnitAttr::get(op.getContext()));
    }
  }
}

static void markRecomputed(RepeatOp repeat, const Policy &policy) {
  Specialisation specialisation(repeat, policy);
  repeat = specialise(repeat, specialisation);
  for (auto [body, kind] : llvm::zip_equal(repeat.getVariants(), specialisation.kinds))
    if (kind.second)
      markBody(body.getBlock(), policy);
}

namespace {
struct MarkRecomputed : titan::ir::impl::TitanMarkRecomputedBase<MarkRecomputed> {
  using TitanMarkRecomputedBase::TitanMarkRecomputedBase;

  void runOnOperation() override {
    Policy policy{all, every, *layers, *save, *blocks};
    if (policy.isNone())
      return;
    if (isTrainProgram(getOperation()))
      for (RepeatOp repeat :
           llvm::make_early_inc_range(getOperation().getBody().getOps<RepeatOp>()))
        markRecomputed(repeat, policy);
    getOperation().walk([](Operation *op) { op->removeAttr(attr::kBlocks); });
  }
};
} // namespace
