//===- Recompute.cpp - The pass --titan-mark-recomputed -------------------===//
//
// The pass turns the run's recomputation policy into marks on operations. If only some layers of a
// variant are recomputed, the variant becomes two. Later passes see the marks only.
//
//===----------------------------------------------------------------------===//

#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSwitch.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANMARKRECOMPUTED
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

namespace {

/// The run's `recompute` options in `titan.run`.
struct Policy {
  explicit Policy(ModuleOp module) : run(module->getAttrOfType<DictionaryAttr>(attr::kRun)) {
    if (auto word = get<StringAttr>("recompute"))
      isFull = word.getValue() == "full";
    if (auto number = get<IntegerAttr>("recompute.every"))
      every = number.getInt();
    if (auto list = get<ArrayAttr>("recompute.layers"))
      for (auto layer : list.getAsRange<IntegerAttr>())
        layers.push_back(layer.getInt());
    if (auto list = get<ArrayAttr>("recompute.save"))
      for (auto word : list.getAsValueRange<StringAttr>())
        saved.push_back(getOperation(word));
    if (auto list = get<ArrayAttr>("recompute.blocks"))
      llvm::append_range(blocks, list);
  }

  bool isNone() const {
    return !isFull && !every && layers.empty() && saved.empty() && blocks.empty();
  }

  bool recomputes(int64_t layer) const {
    if (every)
      return (layer + 1) % every == 0;
    return layers.empty() || llvm::is_contained(layers, layer);
  }

  /// Whether the policy applies to the blocks that contain `op`.
  bool covers(Operation &op) const {
    auto standsIn = op.getAttrOfType<ArrayAttr>(attr::kBlocks);
    return blocks.empty() || (standsIn && llvm::any_of(standsIn, [&](Attribute block) {
                                return llvm::is_contained(blocks, block);
                              }));
  }

  bool saves(Operation &op) const { return llvm::is_contained(saved, op.getName().stripDialect()); }

private:
  template <typename AttrT> AttrT get(StringRef path) const {
    auto setting = run ? run.getAs<DictionaryAttr>(path) : DictionaryAttr();
    return setting ? setting.getAs<AttrT>("value") : AttrT();
  }

  /// The mnemonic of the operation that the language calls `word`.
  static StringRef getOperation(StringRef word) {
    return llvm::StringSwitch<StringRef>(word)
        .Case("matmul", ContractOp::getOperationName().split('.').second)
        .Default(word);
  }

  DictionaryAttr run;
  bool isFull = false;
  int64_t every = 0;
  SmallVector<int64_t> layers;
  SmallVector<StringRef> saved;
  SmallVector<Attribute> blocks;
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
  SmallVector<int64_t> table;
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

/// Marks the operations that the policy covers. A nested repeat is marked as a whole or else
/// searched.
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
  void runOnOperation() override {
    Policy policy(getOperation());
    if (policy.isNone())
      return;
    for (func::FuncOp function : getTrainPrograms(getOperation()))
      for (RepeatOp repeat : llvm::make_early_inc_range(function.getBody().getOps<RepeatOp>()))
        markRecomputed(repeat, policy);
    getOperation().walk([](Operation *op) { op->removeAttr(attr::kBlocks); });
  }
};
} // namespace
