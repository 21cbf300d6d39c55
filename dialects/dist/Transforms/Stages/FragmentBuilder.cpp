// Moves a program into fragments.

#include "dialects/dist/Transforms/Stages/FragmentBuilder.h"

#include "dialects/titan/Support/ReadValues.h"
#include "dialects/titan/Support/Views.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::RepeatOp;

FragmentBuilder::FragmentBuilder(func::FuncOp program, RepeatOp loop, const FragmentPlan &plan)
    : program(program), loop(loop), plan(plan), builder(program) {}

DictionaryAttr FragmentBuilder::getRole(StringRef role, StringRef name) {
  return builder.getDictionaryAttr(builder.getNamedAttr(role, builder.getStringAttr(name)));
}

/// A name for `value` that no other crossing value has.
std::string FragmentBuilder::pickName(Value value) {
  const std::string name = ir::getSourceName(value);
  if (names.try_emplace(name, 1).second)
    return name;
  std::string picked;
  do
    picked = name + "." + std::to_string(++names[name]);
  while (!names.try_emplace(picked, 1).second);
  return picked;
}

std::string FragmentBuilder::getSumName(unsigned index) {
  auto [entry, isNew] = sumNames.try_emplace(index);
  if (isNew)
    entry->second = pickName(loop.getYielded(index).front());
  return entry->second;
}

FragmentBuilder::Fragment &FragmentBuilder::getFragment(FragmentKey key) {
  auto [entry, isNew] = fragments.try_emplace(key, Fragment{key, {}, {}, {}});
  Fragment &fragment = entry->second;
  if (!isNew)
    return fragment;
  std::string name = (program.getName() + "." + key.getName()).str();
  fragment.function = func::FuncOp::create(program.getLoc(), name, builder.getFunctionType({}, {}));
  fragment.function.addEntryBlock();
  fragment.function->setAttr(ir::attr::kProgram, builder.getStringAttr(name));
  fragment.function->setAttr(
      kFragmentAttr, FragmentAttr::get(builder.getContext(), key.kind, key.stage, key.level));
  fragment.function->setAttr(kProgramAttr, FlatSymbolRefAttr::get(program));
  if (Attribute precision = program->getAttr(ir::attr::kPrecision))
    fragment.function->setAttr(ir::attr::kPrecision, precision);
  return fragment;
}

Value FragmentBuilder::addArgument(Fragment &fragment, Value value, DictionaryAttr attributes) {
  Block &body = fragment.function.getBody().front();
  Value argument = body.addArgument(value.getType(), value.getLoc());
  fragment.argumentAttributes.push_back(attributes);
  fragment.mapping.map(value, argument);
  return argument;
}

void FragmentBuilder::addResult(Fragment &fragment, Value value, DictionaryAttr attributes) {
  fragment.results.push_back(fragment.mapping.lookup(value));
  fragment.resultAttributes.push_back(attributes);
}

/// Passes `value` from the fragment that computes it: an argument here, a result there.
LogicalResult FragmentBuilder::import(Fragment &fragment, FragmentKey from, Value value) {
  const bool isStash = from.isPerMicrobatch();
  if (!ExecutionOrder()(from, fragment.key) || isStash != fragment.key.isPerMicrobatch())
    if (from.kind != FragmentKind::Begin)
      return emitError(value.getLoc())
             << "@" << program.getName() << "." << fragment.key.getName()
             << " cannot read a value of the later fragment " << from.getName();
  StringRef role = isStash ? ir::attr::kStash : ir::attr::kStepValue;
  StringAttr &name = exported[value];
  if (!name) {
    name = builder.getStringAttr(pickName(value));
    addResult(getFragment(from), value, getRole(role, name));
    ++(isStash ? numStashed : numStepValues);
  }
  addArgument(fragment, value, getRole(role, name));
  return success();
}

LogicalResult FragmentBuilder::requireArgument(Fragment &fragment, BlockArgument argument) {
  DictionaryAttr attributes = program.getArgAttrDict(argument.getArgNumber());
  auto input = attributes.getAs<StringAttr>(ir::attr::kInput);
  if (input && fragment.key.isPerMicrobatch()) {
    auto isOutside = [&](Operation *user) { return user != loop.getOperation(); };
    return emitError((*llvm::find_if(argument.getUsers(), isOutside))->getLoc())
           << "needs the whole batch of `" << input.getValue()
           << "` in every microbatch, so the step cannot be split into microbatches of a pipeline";
  }
  bool isStored = attributes.get(ir::attr::kParam) || attributes.get(ir::attr::kState) ||
                  attributes.get(ir::attr::kCache);
  if (!isStored || plan.getHome(argument) == fragment.key.stage) {
    addArgument(fragment, argument, attributes);
    return success();
  }
  FragmentKey owner{FragmentKind::Begin, plan.getHome(argument)};
  return failed(require(getFragment(owner), argument)) ? failure()
                                                       : import(fragment, owner, argument);
}

LogicalResult FragmentBuilder::requireLoopArgument(Fragment &fragment, BlockArgument argument) {
  ir::RepeatVariant body = loop.getVariant(0);
  if (argument == body.getIndex()) {
    addArgument(fragment, argument, getRole(ir::attr::kScalar, "microbatch"));
    return success();
  }
  for (auto [index, sum] : llvm::enumerate(body.getIterArgs()))
    if (sum == argument) {
      addArgument(fragment, argument, getRole(ir::attr::kStepValue, getSumName(index)));
      return success();
    }
  for (auto [input, slot, number] : body.getScannedInputs()) {
    auto whole = dyn_cast<BlockArgument>(input);
    if (slot != argument || !whole)
      continue;
    NamedAttrList attributes(program.getArgAttrDict(whole.getArgNumber()));
    attributes.set(ir::attr::kMicrobatch, builder.getUnitAttr());
    addArgument(fragment, argument, attributes.getDictionary(builder.getContext()));
    return success();
  }
  return emitError(argument.getLoc())
         << "@" << program.getName() << " slices a computed value into microbatches; "
         << "a pipeline slices inputs only";
}

LogicalResult FragmentBuilder::require(Fragment &fragment, Value value) {
  if (fragment.mapping.contains(value))
    return success();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    bool isProgramArgument = argument.getOwner() == &program.getBody().front();
    return isProgramArgument ? requireArgument(fragment, argument)
                             : requireLoopArgument(fragment, argument);
  }
  Operation *op = value.getDefiningOp();
  if (loop && op == loop) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    // Another stage reads the final sum, not the one that begin sets to zero.
    if (FragmentKey owner = plan.getOwnFragment(value); owner.stage != fragment.key.stage)
      return failed(require(getFragment(owner), value)) ? failure()
                                                        : import(fragment, owner, value);
    addArgument(fragment, value, getRole(ir::attr::kStepValue, getSumName(index)));
    return success();
  }
  std::optional<FragmentKey> owner = plan.get(op);
  return owner ? import(fragment, *owner, value) : copyInto(fragment, op);
}

LogicalResult FragmentBuilder::copyInto(Fragment &fragment, Operation *op) {
  for (Value value : ir::getReadValues(op))
    if (failed(require(fragment, value)))
      return failure();
  OpBuilder inside = OpBuilder::atBlockEnd(&fragment.function.getBody().front());
  inside.clone(*op, fragment.mapping);
  return success();
}

LogicalResult FragmentBuilder::addOperation(Operation *op) {
  std::optional<FragmentKey> key = plan.get(op);
  return key ? copyInto(getFragment(*key), op) : success();
}

/// The sums of the loop: begin sets them to zero, the fragments of the loop update them.
LogicalResult FragmentBuilder::addSums() {
  ir::RepeatVariant body = loop.getVariant(0);
  for (auto [index, pair] :
       llvm::enumerate(llvm::zip_equal(loop.getInits(), body.getYieldedIterArgs()))) {
    auto [init, yielded] = pair;
    Value argument = body.getIterArgs()[index];
    Fragment &begin = getFragment({FragmentKind::Begin, plan.getSumStage(index)});
    if (failed(require(begin, init)))
      return failure();
    addResult(begin, init, getRole(ir::attr::kStepValue, getSumName(index)));
    ++numStepValues;
    if (yielded == argument)
      continue;
    // Padding may mask the sum. Every stage processes the microbatches in order.
    Operation *definition = yielded.getDefiningOp();
    std::optional<FragmentKey> key = definition ? plan.get(definition) : std::nullopt;
    if (!key)
      return emitError(yielded.getLoc()) << "@" << program.getName()
                                         << " returns a value of its last microbatch; a pipeline "
                                            "returns sums over microbatches only";
    Fragment &fragment = getFragment(*key);
    if (failed(require(fragment, argument)))
      return failure();
    auto number = cast<BlockArgument>(fragment.mapping.lookup(argument)).getArgNumber();
    addResult(fragment, yielded,
              builder.getDictionaryAttr(
                  builder.getNamedAttr(ir::attr::kUpdates, builder.getI64IntegerAttr(number))));
  }
  return success();
}

/// Result `index` of the program becomes a result of fragment `key`.
LogicalResult FragmentBuilder::returnFrom(FragmentKey key, unsigned index) {
  Fragment &fragment = getFragment(key);
  Value value = program.getBody().front().getTerminator()->getOperand(index);
  if (failed(require(fragment, value)))
    return failure();
  NamedAttrList attributes(program.getResultAttrDict(index));
  if (auto updated = dyn_cast_or_null<IntegerAttr>(attributes.get(ir::attr::kUpdates))) {
    Value argument = program.getArgument(updated.getInt());
    if (failed(require(fragment, argument)))
      return failure();
    auto number = cast<BlockArgument>(fragment.mapping.lookup(argument)).getArgNumber();
    attributes.set(ir::attr::kUpdates, builder.getI64IntegerAttr(number));
  }
  addResult(fragment, value, attributes.getDictionary(builder.getContext()));
  return success();
}

LogicalResult FragmentBuilder::addReturned() {
  Operation *terminator = program.getBody().front().getTerminator();
  for (OpOperand &returned : terminator->getOpOperands()) {
    unsigned index = returned.getOperandNumber();
    if (auto updated = program.getResultAttrOfType<IntegerAttr>(index, ir::attr::kUpdates)) {
      int64_t home = plan.getHome(program.getArgument(updated.getInt()));
      if (failed(returnFrom(plan.getReader(returned.get(), home), index)))
        return failure();
    } else if (program.getResultAttr(index, ir::attr::kOutput)) {
      for (int64_t stage = 0; stage < plan.getNumStages(); ++stage)
        if (failed(returnFrom(plan.getLast(stage), index)))
          return failure();
    } else if (failed(returnFrom(plan.getOwnFragment(returned.get()), index))) {
      return failure();
    }
  }
  return success();
}

/// Sets the type once at the end, since each change takes time in proportion to its size.
void FragmentBuilder::finish(Fragment &fragment) {
  func::FuncOp function = fragment.function;
  Block &body = function.getBody().front();
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  auto returned = inside.create<func::ReturnOp>(program.getLoc(), fragment.results);
  function.setType(builder.getFunctionType(body.getArgumentTypes(), returned.getOperandTypes()));
  function.setAllArgAttrs(fragment.argumentAttributes);
  function.setAllResultAttrs(fragment.resultAttributes);
  builder.insert(function);
}

LogicalResult FragmentBuilder::run() {
  Block &top = program.getBody().front();
  for (Operation &op : top.without_terminator()) {
    if (!loop || &op != loop) {
      if (failed(addOperation(&op)))
        return failure();
      continue;
    }
    for (Operation &inner : loop.getVariant(0).getBlock().without_terminator())
      if (failed(addOperation(&inner)))
        return failure();
    if (failed(addSums()))
      return failure();
  }
  if (failed(addReturned()))
    return failure();
  for (auto &[key, fragment] : fragments)
    finish(fragment);
  return success();
}

SmallVector<func::FuncOp> FragmentBuilder::getFragments() const {
  SmallVector<func::FuncOp> functions;
  for (const auto &[key, fragment] : fragments)
    functions.push_back(fragment.function);
  return functions;
}
