// Assigns every operation to a fragment.

#include "dialects/dist/Transforms/Stages/FragmentPlan.h"

#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/ReadValues.h"
#include "dialects/titan/Support/Views.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::RepeatOp;

/// The stage of a repeat of the pipelined dimension.
static std::optional<int64_t> getStage(Operation *op) {
  auto stage = op->getAttrOfType<IntegerAttr>(ir::attr::kStage);
  return stage ? std::optional(stage.getInt()) : std::nullopt;
}

/// Whether the operations of `block` include repeats with stages.
static bool hasStages(Block &block) {
  return llvm::any_of(block.getOps<RepeatOp>(),
                      [](RepeatOp repeat) { return getStage(repeat).has_value(); });
}

RepeatOp dist::findMicrobatchLoop(func::FuncOp program) {
  if (program.isExternal())
    return nullptr;
  for (auto repeat : program.getBody().front().getOps<RepeatOp>())
    if (repeat.getNumVariants() == 1 && ::hasStages(repeat.getVariant(0).getBlock()))
      return repeat;
  return nullptr;
}

bool dist::hasStages(func::FuncOp program) {
  return !program.isExternal() &&
         (::hasStages(program.getBody().front()) || findMicrobatchLoop(program));
}

FragmentPlan::FragmentPlan(func::FuncOp program, RepeatOp loop)
    : program(program), loop(loop), top(program.getBody().front()),
      body(loop ? loop.getVariant(0).getBlock() : top) {
  assignStaged();
  findCloneable(top);
  if (loop)
    findCloneable(body);
  assignUnstaged();
  if (loop)
    assignBegin();
  assignParameters();
}

int64_t FragmentPlan::getStageAt(int64_t position) const {
  if (position >= 2 * numStages)
    return position - 2 * numStages;
  return position < numStages ? position : 2 * numStages - 1 - position;
}

int64_t FragmentPlan::getPosition(Operation *op) const {
  auto found = positions.find(op);
  return found == positions.end() ? -1 : found->second;
}

/// The position of the forward, reverse or weight gradient repeat of a stage.
int64_t FragmentPlan::getRepeatPosition(RepeatOp repeat, int64_t stage) const {
  if (repeat->hasAttr(ir::attr::kGradKind))
    return 2 * numStages + stage;
  return repeat.getReverse() ? 2 * numStages - 1 - stage : stage;
}

/// The positions of all operations that depend on a repeat with a stage.
void FragmentPlan::assignStaged() {
  // A program may lack the layers of some stages.
  if (PipelineOp pipeline = PipelineOp::lookup(program))
    numStages = pipeline.getNumStages();
  for (auto repeat : body.getOps<RepeatOp>())
    if (std::optional<int64_t> stage = getStage(repeat))
      numStages = std::max(numStages, *stage + 1);
  for (Operation &op : body.without_terminator()) {
    int64_t position = -1;
    for (Value read : ir::getReadValues(&op))
      if (Operation *definition = read.getDefiningOp())
        position = std::max(position, getPosition(definition));
    if (std::optional<int64_t> stage = getStage(&op))
      position = getRepeatPosition(cast<RepeatOp>(op), *stage);
    if (position >= 0)
      positions[&op] = position;
  }
}

/// Whether several fragments may each compute `op`.
static bool isCheapToClone(Operation *op) {
  return op->hasTrait<ir::Elementwise>() || op->hasTrait<ir::Rematerialisable>() ||
         op->hasTrait<ir::View>() || isCollective(op) || isa<LocalSliceOp, MakePartialOp>(op);
}

/// Whether `op` makes a stored parameter usable: it moves, converts or renames one tensor.
static bool isWeightAccess(Operation *op) {
  return isCollective(op) || isa<ir::CastOp, LocalSliceOp, ir::ExpandOp>(op) || ir::isView(op);
}

/// Whether `argument` is an iteration argument of the loop.
bool FragmentPlan::isSum(BlockArgument argument) const {
  return loop && llvm::is_contained(RepeatOp(loop).getVariant(0).getIterArgs(), argument);
}

/// Whether `op` is a collective before the loop. The fragment `begin` runs it, and the fragments of
/// all microbatches read its result. In the loop, each fragment runs its own copy.
bool FragmentPlan::runsOncePerStep(Operation *op) const {
  return loop && isCollective(op) && op->getBlock() == &top && op->isBeforeInBlock(RepeatOp(loop));
}

/// Finds operations of `block` that are cheap and depend on arguments of the program alone.
void FragmentPlan::findCloneable(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!isCheapToClone(&op) || getPosition(&op) >= 0)
      continue;
    bool isFree = true, readsWeight = false;
    for (Value operand : op.getOperands()) {
      if (Operation *definition = operand.getDefiningOp()) {
        isFree &= cloneable.contains(definition) || weights.contains(operand);
        readsWeight |= weights.contains(operand);
        continue;
      }
      auto argument = cast<BlockArgument>(operand);
      isFree &= !isSum(argument);
      readsWeight |= argument.getOwner() == &top &&
                     (program.getArgAttr(argument.getArgNumber(), ir::attr::kParam) ||
                      program.getArgAttr(argument.getArgNumber(), ir::attr::kState));
    }
    if (!isFree || (readsWeight && !isWeightAccess(&op)))
      continue;
    if (readsWeight)
      weights.insert(op.result_begin(), op.result_end());
    if (!readsWeight || !runsOncePerStep(&op))
      cloneable.insert(&op);
  }
}

bool FragmentPlan::isCloneable(Operation *op) const {
  return cloneable.contains(op);
}

/// The least position of the operations of the loop that read `value`, through cloned ones.
std::optional<int64_t> FragmentPlan::findLeastPosition(Value value) const {
  std::optional<int64_t> least;
  for (Operation *user : value.getUsers()) {
    Operation *op = body.findAncestorOpInBlock(*user);
    std::optional<int64_t> position;
    if (op && getPosition(op) >= 0) {
      position = getPosition(op);
    } else if (Operation *reader = op ? op : top.findAncestorOpInBlock(*user);
               reader && isCloneable(reader)) {
      for (Value result : reader->getResults())
        if (std::optional<int64_t> next = findLeastPosition(result))
          position = std::min(position.value_or(*next), *next);
    }
    if (position)
      least = std::min(least.value_or(*position), *position);
  }
  return least;
}

/// Expensive operations that depend on no repeat: the first reader computes them. Without a reader
/// in the loop, the fragment of the latest operand does, or the last stage's forward pass.
void FragmentPlan::assignUnstaged() {
  SmallVector<Operation *> unread;
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (getPosition(&op) >= 0 || isCloneable(&op))
      continue;
    std::optional<int64_t> least;
    for (Value result : op.getResults())
      if (std::optional<int64_t> position = findLeastPosition(result))
        least = std::min(least.value_or(*position), *position);
    if (least)
      positions[&op] = *least;
    else
      unread.push_back(&op);
  }
  for (Operation *op : llvm::reverse(unread)) {
    int64_t latest = numStages - 1;
    for (Value read : ir::getReadValues(op))
      if (Operation *definition = read.getDefiningOp())
        latest = std::max(latest, getPosition(definition));
    positions[op] = latest;
  }
}

/// The first stage that reads `value` in the loop or in a begin fragment.
std::optional<int64_t> FragmentPlan::findFirstStage(Value value) const {
  std::optional<int64_t> first;
  auto note = [&](std::optional<int64_t> stage) {
    if (stage)
      first = std::min(first.value_or(*stage), *stage);
  };
  for (Operation *user : value.getUsers()) {
    Operation *op = body.findAncestorOpInBlock(*user);
    if (op && getPosition(op) >= 0)
      note(getStageAt(getPosition(op)));
    Operation *reader = op ? op : top.findAncestorOpInBlock(*user);
    if (auto begin = beginStages.find(reader); begin != beginStages.end())
      note(begin->second);
    if (reader && isCloneable(reader))
      for (Value result : reader->getResults())
        note(findFirstStage(result));
  }
  return first;
}

/// Assigns each operation before the loop that is not cloned to the first stage that reads it.
void FragmentPlan::assignBegin() {
  for (Operation *op = loop->getPrevNode(); op; op = op->getPrevNode()) {
    if (isCloneable(op))
      continue;
    int64_t stage = numStages - 1;
    for (Value result : op->getResults())
      stage = std::min(stage, findFirstStage(result).value_or(stage));
    beginStages[op] = stage;
  }
}

void FragmentPlan::assignParameters() {
  for (BlockArgument argument : program.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (auto stage = program.getArgAttrOfType<IntegerAttr>(index, ir::attr::kStage))
      homes[argument] = stage.getInt();
    else if (program.getArgAttr(index, ir::attr::kParam) ||
             program.getArgAttr(index, ir::attr::kCache))
      homes[argument] = findFirstStage(argument).value_or(0);
  }
}

/// The role and the name of a parameter or cache without `titan.stage`.
static std::optional<Homes::key_type> getHomeKey(func::FuncOp program, Value value) {
  const unsigned index = cast<BlockArgument>(value).getArgNumber();
  if (!program.getArgAttr(index, ir::attr::kStage))
    for (StringRef role : {ir::attr::kParam, ir::attr::kCache})
      if (auto name = program.getArgAttrOfType<StringAttr>(index, role))
        return {{role.str(), name.str()}};
  return std::nullopt;
}

void FragmentPlan::collectHomes(Homes &common) const {
  for (auto [argument, home] : homes)
    if (std::optional<Homes::key_type> key = getHomeKey(program, argument)) {
      auto [entry, isNew] = common.try_emplace(*key, home);
      entry->second = std::min(entry->second, home);
    }
}

/// The stage of a parameter also stores its optimizer state.
void FragmentPlan::assignStates() {
  for (BlockArgument argument : program.getArguments()) {
    auto state = program.getArgAttrOfType<StringAttr>(argument.getArgNumber(), ir::attr::kState);
    if (!state || homes.contains(argument))
      continue;
    StringRef parameter = state.getValue().split('.').second;
    std::optional<unsigned> owner = ir::findArgument(program, ir::attr::kParam, parameter);
    homes[argument] = owner ? homes.lookup(program.getArgument(*owner)) : 0;
  }
}

int64_t FragmentPlan::getSumStage(unsigned index) const {
  Value sum = RepeatOp(loop).getYielded(index).front();
  Operation *add = sum.getDefiningOp();
  return add ? getStageAt(std::max<int64_t>(getPosition(add), 0)) : 0;
}

FragmentPlan::Owner FragmentPlan::getOwner(Value value) const {
  if (homes.contains(value))
    return {Owner::One, homes.lookup(value), 0};
  Operation *op = value.getDefiningOp();
  if (!op || isCloneable(op))
    return {Owner::Any};
  if (loop && op == loop)
    return {Owner::One, getSumStage(cast<OpResult>(value).getResultNumber()), 0};
  if (auto begin = beginStages.find(op); begin != beginStages.end())
    return {Owner::One, begin->second, 0};
  return owners.lookup(op);
}

/// The owner of an operation after the loop.
FragmentPlan::Owner FragmentPlan::combine(Operation *op) const {
  std::optional<Owner> home;
  bool hasSeveral = false, hasShared = false, isScalar = true;
  for (Value result : op->getResults())
    isScalar &= cast<ir::NamedTensorType>(result.getType()).getRank() == 0;
  for (Value read : ir::getReadValues(op)) {
    Owner owner = getOwner(read);
    hasShared |= owner.kind == Owner::All;
    if (owner.kind != Owner::One)
      continue;
    hasSeveral |= home && home->stage != owner.stage;
    // The operand that is available last decides; of several, that of the first stage.
    auto precedence = [](const Owner &it) { return std::pair(-it.level, it.stage); };
    if (!home || precedence(owner) < precedence(*home))
      home = owner;
  }
  // The stage that stores a parameter updates it.
  for (Value read : ir::getReadValues(op))
    if (homes.contains(read))
      home = getOwner(read);
  if (std::optional<int64_t> stage = getStage(op))
    home = Owner{Owner::One, *stage};
  Owner result{Owner::Any};
  if (home && !(hasSeveral && isScalar))
    result = {Owner::One, home->stage};
  else if (home || hasShared)
    result = {Owner::All};
  for (Value read : ir::getReadValues(op)) {
    Owner owner = getOwner(read);
    bool crosses = owner.kind == Owner::One && !homes.contains(read) &&
                   (result.kind == Owner::All || owner.stage != result.stage);
    result.level = std::max(result.level, owner.level + crosses);
  }
  return result;
}

void FragmentPlan::assignUpdates(const Homes &common) {
  for (auto &[argument, home] : homes)
    if (std::optional<Homes::key_type> key = getHomeKey(program, argument))
      home = common.at(*key);
  assignStates();
  for (Operation *op = loop ? loop->getNextNode() : &top.front(); op != top.getTerminator();
       op = op->getNextNode()) {
    if (isCloneable(op))
      continue;
    Owner owner = combine(op);
    owners[op] = owner;
    numLevels = std::max(numLevels, owner.level + 1);
  }
  // Every stage returns the outputs of the program.
  for (OpOperand &returned : top.getTerminator()->getOpOperands())
    if (program.getResultAttr(returned.getOperandNumber(), ir::attr::kOutput))
      if (Owner owner = getOwner(returned.get()); owner.kind == Owner::One)
        numLevels = std::max(numLevels, owner.level + 2);
}

std::optional<FragmentKey> FragmentPlan::get(Operation *op) const {
  if (isCloneable(op))
    return std::nullopt;
  if (loop && op->getBlock() == &body) {
    int64_t position = getPosition(op);
    FragmentKind kind = position < numStages       ? FragmentKind::Forward
                        : position < 2 * numStages ? FragmentKind::Backward
                                                   : FragmentKind::Wgrad;
    return FragmentKey{kind, getStageAt(position)};
  }
  if (auto begin = beginStages.find(op); begin != beginStages.end())
    return FragmentKey{FragmentKind::Begin, begin->second};
  Owner owner = owners.lookup(op);
  if (owner.kind != Owner::One)
    return std::nullopt;
  return getAt(owner.stage, owner.level);
}

FragmentKey FragmentPlan::getAt(int64_t stage, int64_t level) const {
  return {loop ? FragmentKind::Update : FragmentKind::Evaluate, stage, level};
}

FragmentKey FragmentPlan::getReader(Value value, int64_t stage) const {
  Owner owner = getOwner(value);
  bool crosses = owner.kind == Owner::One && owner.stage != stage;
  return getAt(stage, owner.level + crosses);
}

FragmentKey FragmentPlan::getOwnFragment(Value value) const {
  Owner owner = getOwner(value);
  return getAt(owner.stage, owner.level);
}
