// The pass --titan-split-turns: makes a train program for each loss and each set of parameters that
// a step updates together.

#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Support/Turns.h"
#include "dialects/titan/Transforms/Gradient/CleanUp.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"

#include "llvm/ADT/StringExtras.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANSPLITTURNS
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// Losses that some parameters minimise together, and the periods of these parameters.
struct Objective {
  ArrayAttr losses;              ///< null: the sum of all
  std::vector<unsigned> outputs; ///< the results that return the losses
  std::vector<Period> periods;   ///< distinct
};

/// Splits one train program.
class TurnSplitter {
public:
  explicit TurnSplitter(func::FuncOp whole) : whole(whole) {}

  /// Inserts the turns before the program and erases it.
  LogicalResult run();

private:
  LogicalResult collect();
  FailureOr<Objective> makeObjective(ArrayAttr losses);
  std::string pickName(const Objective &objective);
  void build(const Objective &objective, const Turn &turn);
  bool isUpdated(unsigned parameter, const Objective &objective, const Turn &turn);

  func::FuncOp whole;
  std::vector<Objective> objectives;
  llvm::StringMap<unsigned> taken; ///< for each name, how many turns have it
};

} // namespace

static ArrayAttr getLosses(func::FuncOp function, unsigned parameter) {
  return function.getArgAttrOfType<ArrayAttr>(parameter, attr::kLosses);
}

FailureOr<Objective> TurnSplitter::makeObjective(ArrayAttr losses) {
  Objective objective{losses, {}, {}};
  if (!losses)
    return objective;
  for (auto name : losses.getAsRange<StringAttr>()) {
    std::optional<unsigned> output = findResult(whole, attr::kOutput, getLossOutput(name));
    if (!output)
      return whole.emitOpError("has no loss ") << name << ", which a parameter minimises";
    objective.outputs.push_back(*output);
  }
  return objective;
}

LogicalResult TurnSplitter::collect() {
  for (unsigned i = 0; i < whole.getNumArguments(); ++i) {
    if (!isTrained(whole, i))
      continue;
    ArrayAttr losses = getLosses(whole, i);
    auto known =
        llvm::find_if(objectives, [&](const Objective &one) { return one.losses == losses; });
    if (known == objectives.end()) {
      FailureOr<Objective> made = makeObjective(losses);
      if (failed(made))
        return failure();
      known = objectives.insert(known, std::move(*made));
    }
    const Period period = getPeriod(whole, i);
    if (!llvm::is_contained(known->periods, period))
      known->periods.push_back(period);
  }
  llvm::stable_sort(objectives,
                    [](const Objective &a, const Objective &b) { return a.outputs < b.outputs; });
  return success();
}

/// `train.` and the names of the losses, with a number if the name is taken.
std::string TurnSplitter::pickName(const Objective &objective) {
  std::string name = whole.getName().str() + ".";
  if (objective.losses)
    name += llvm::join(llvm::map_range(objective.losses.getAsRange<StringAttr>(),
                                       [](StringAttr loss) { return loss.getValue(); }),
                       "+");
  else
    name += "all";
  const unsigned earlier = taken[name]++;
  return earlier ? name + "." + std::to_string(earlier + 1) : name;
}

bool TurnSplitter::isUpdated(unsigned parameter, const Objective &objective, const Turn &turn) {
  return getLosses(whole, parameter) == objective.losses &&
         llvm::is_contained(turn.due, getPeriod(whole, parameter));
}

/// Returns the sum of the losses as `loss`, and no other loss.
static void selectLosses(func::FuncOp turn, ArrayRef<unsigned> outputs) {
  if (outputs.empty())
    return;
  Operation *terminator = turn.getBody().front().getTerminator();
  OpBuilder builder(terminator);
  TensorBuilder math(builder, turn.getLoc());
  Value sum;
  for (unsigned output : outputs) {
    Value loss = terminator->getOperand(output);
    math.setLoc(loss.getLoc());
    sum = sum ? math.add(sum, loss) : loss;
  }
  terminator->setOperand(*findResult(turn, attr::kOutput, "loss"), sum);
  for (unsigned i = turn.getNumResults(); i-- > 0;) {
    auto output = turn.getResultAttrOfType<StringAttr>(i, attr::kOutput);
    if (!output || output == "loss" || !isLossOutput(output) || llvm::is_contained(outputs, i))
      continue;
    turn.eraseResult(i);
    terminator->eraseOperand(i);
  }
}

static void freeze(func::FuncOp function, unsigned parameter) {
  for (StringRef name : {attr::kUpdatedBy, attr::kScheduledBy, attr::kRateScale, attr::kPeriod})
    function.removeArgAttr(parameter, name);
  function.setArgAttr(parameter, attr::kFrozen, UnitAttr::get(function.getContext()));
}

/// Erases inputs and frozen parameters without uses, and renumbers the arguments that results
/// update. Buffers and scalars stay: a turn updates the former, and all programs share the latter.
static void eraseUnusedArguments(func::FuncOp function) {
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments()) {
    const unsigned i = argument.getArgNumber();
    if (argument.use_empty() &&
        (function.getArgAttr(i, attr::kInput) || function.getArgAttr(i, attr::kFrozen)))
      unused.set(i);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto updated = function.getResultAttrOfType<IntegerAttr>(i, attr::kUpdates)) {
      const auto index = static_cast<unsigned>(updated.getInt());
      const auto before = static_cast<int64_t>(
          llvm::count_if(unused.set_bits(), [&](unsigned erased) { return erased < index; }));
      function.setResultAttr(i, attr::kUpdates,
                             IntegerAttr::get(updated.getType(), index - before));
    }
  function.eraseArguments(unused);
}

/// Inserts the program of one turn.
void TurnSplitter::build(const Objective &objective, const Turn &turn) {
  func::FuncOp function = whole.clone();
  const std::string name = pickName(objective);
  function.setName(name);
  function->setAttr(attr::kProgram, StringAttr::get(function.getContext(), name));
  function->setAttr(attr::kTurn, getTurnAttr(function.getContext(), turn));
  OpBuilder(whole).insert(function);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!isTrained(function, i))
      continue;
    if (!isUpdated(i, objective, turn))
      freeze(function, i);
    function.removeArgAttr(i, attr::kLosses);
  }
  selectLosses(function, objective.outputs);
  cleanUp(function);
  eraseUnusedArguments(function);
}

LogicalResult TurnSplitter::run() {
  if (failed(collect()))
    return failure();
  for (const Objective &objective : objectives) {
    if (!stepsUntilRepetition(objective.periods))
      return whole.emitOpError("has parameters whose periods repeat only after more than ")
             << kMostSteps << " steps";
    for (const Turn &turn : findTurns(objective.periods))
      build(objective, turn);
  }
  whole.erase();
  return success();
}

/// Whether a parameter states its losses or its period.
static bool takesTurns(func::FuncOp function) {
  return llvm::any_of(llvm::seq(function.getNumArguments()), [&](unsigned i) {
    return isTrained(function, i) &&
           (function.getArgAttr(i, attr::kLosses) || function.getArgAttr(i, attr::kPeriod));
  });
}

namespace {
struct SplitTurns : titan::ir::impl::TitanSplitTurnsBase<SplitTurns> {
  void runOnOperation() override {
    for (func::FuncOp function : getTrainPrograms(getOperation()))
      if (takesTurns(function) && failed(TurnSplitter(function).run()))
        return signalPassFailure();
  }
};
} // namespace
