// An optimizer as a function of tensors.

#include "dialects/titan/Transforms/Gradient/OptimizerFunction.h"

#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace titan::ir;

FailureOr<OptimizerFunction> OptimizerFunction::get(func::FuncOp program, unsigned index) {
  auto name = program.getArgAttrOfType<FlatSymbolRefAttr>(index, attr::kUpdatedBy);
  auto parameter = program.getArgAttrOfType<StringAttr>(index, attr::kParam);
  if (!name)
    return program.emitOpError("names no optimizer of parameter ") << parameter;
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(program, name);
  if (!function || function.isExternal() || !function->hasAttr(attr::kOptimizer))
    return program.emitOpError("asks for the optimizer ")
           << name << " of parameter " << parameter << ", but no function with `"
           << attr::kOptimizer << "` has this name";
  OptimizerFunction optimizer(function);
  if (failed(optimizer.read(program, index)))
    return failure();
  return optimizer;
}

/// Whether `some` is `dims` without others.
static bool isSubsequence(ArrayRef<DimAttr> some, ArrayRef<DimAttr> dims) {
  for (DimAttr dim : dims)
    if (!some.empty() && some.front() == dim)
      some = some.drop_front();
  return some.empty();
}

LogicalResult OptimizerFunction::read(func::FuncOp program, unsigned index) {
  if (failed(readArguments()) || failed(readResults()))
    return failure();
  ArrayRef<DimAttr> own = getTensorType(function.getArgument(parameter)).getDims();
  whole = llvm::to_vector(getTensorType(program.getArgument(index)).getDims());
  if (!isSubsequence(own, whole))
    return program.emitOpError("updates parameter ")
           << program.getArgAttr(index, attr::kParam) << " of type "
           << program.getArgument(index).getType() << " by @" << function.getName()
           << ", which takes " << function.getArgument(parameter).getType();
  llvm::copy_if(whole, std::back_inserter(stack),
                [&](DimAttr dim) { return !llvm::is_contained(own, dim); });
  return success();
}

LogicalResult OptimizerFunction::readArguments() {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (auto name = function.getArgAttrOfType<StringAttr>(i, attr::kState))
      states.push_back({name, i});
  }
  lr = findArgument(function, attr::kScalar, "lr");
  step = findArgument(function, attr::kScalar, "step");
  auto find = [&](StringRef role, unsigned &index) -> LogicalResult {
    std::optional<unsigned> found = findArgument(function, attr::kOperand, role);
    if (!found)
      return function.emitOpError("has no argument ") << attr::kOperand << " = \"" << role << '"';
    index = *found;
    return success();
  };
  if (failed(find("parameter", parameter)) || failed(find("gradient", gradient)))
    return failure();
  return checkArguments();
}

/// Each argument has exactly one role, so that the program has an operand for it.
LogicalResult OptimizerFunction::checkArguments() {
  SmallVector<unsigned> known{parameter, gradient};
  for (std::optional<unsigned> scalar : {lr, step})
    if (scalar)
      known.push_back(*scalar);
  for (const State &state : states)
    known.push_back(state.argument);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!llvm::is_contained(known, i))
      return function.emitOpError("has an argument that no program has an operand for: argument ")
             << i << " is neither the parameter nor its gradient, no state, and not the first "
             << "argument " << attr::kScalar << " = \"lr\" or \"step\"";
  return success();
}

LogicalResult OptimizerFunction::readResults() {
  SmallVector<unsigned> replaced{parameter};
  for (const State &state : states)
    replaced.push_back(state.argument);
  for (unsigned argument : replaced) {
    std::optional<unsigned> found;
    for (unsigned r = 0; r < function.getNumResults(); ++r)
      if (auto target = function.getResultAttrOfType<IntegerAttr>(r, attr::kUpdates))
        if (target.getInt() == argument)
          found = r;
    if (!found)
      return function.emitOpError("returns no new value of argument ") << argument;
    if (function.getResultTypes()[*found] != function.getArgument(argument).getType())
      return function.emitOpError("replaces argument ")
             << argument << " of type " << function.getArgument(argument).getType() << " by "
             << function.getResultTypes()[*found];
    results.push_back(*found);
  }
  return success();
}

NamedTensorType OptimizerFunction::getStateType(const State &state, Type element) const {
  ArrayRef<DimAttr> dims = getTensorType(function.getArgument(state.argument)).getDims();
  return NamedTensorType::get(element, stackDims(dims));
}

/// The dimensions with those of the stack. Dimensions of the parameter in its order keep it, so
/// that elementwise updates move nothing.
SmallVector<DimAttr> OptimizerFunction::stackDims(ArrayRef<DimAttr> dims) const {
  SmallVector<DimAttr> stacked;
  if (isSubsequence(dims, whole)) {
    llvm::copy_if(whole, std::back_inserter(stacked), [&](DimAttr dim) {
      return llvm::is_contained(stack, dim) || llvm::is_contained(dims, dim);
    });
    return stacked;
  }
  stacked = stack;
  llvm::append_range(stacked, dims);
  return stacked;
}

bool OptimizerFunction::isStacked(Value value) const {
  return !stack.empty() && getTensorType(value).hasDim(stack.front().getName());
}

bool OptimizerFunction::isElementwise() const {
  NamedTensorType like = getTensorType(function.getArgument(parameter));
  auto isOfElement = [&](Value value) {
    return getTensorType(value).getRank() == 0 || getTensorType(value).getDims() == like.getDims();
  };
  if (!llvm::all_of(function.getArguments(), isOfElement))
    return false;
  Block &body = function.getBody().front();
  return llvm::all_of(body.without_terminator(), [&](Operation &op) {
    if (isa<ShardingConstraintOp>(op))
      return true;
    return op.hasTrait<Elementwise>() && !isa<PositionalOpInterface>(op) &&
           llvm::all_of(op.getOperands(), isOfElement) && isOfElement(op.getResult(0));
  });
}

/// `value` with the same dimensions in another order.
static Value reorderDims(OpBuilder &builder, Location loc, Value value, ArrayRef<DimAttr> dims) {
  auto type = NamedTensorType::get(getTensorType(value).getElementType(), dims);
  return value.getType() == type ? value : builder.create<ExpandOp>(loc, type, value);
}

/// Clones an operation with stacked operands. Operations that find dimensions by their positions
/// have the dimensions of the stack first.
void OptimizerFunction::cloneStacked(OpBuilder &builder, Operation *step,
                                     IRMapping &mapping) const {
  const bool isByName = step->hasTrait<Elementwise>() || isa<ContractOp, ReduceOp, ExpandOp>(step);
  auto stackFirst = [&](ArrayRef<DimAttr> dims) {
    SmallVector<DimAttr> stacked = stack;
    llvm::append_range(stacked, dims);
    return stacked;
  };
  Operation *copy = step->clone(mapping);
  for (auto [before, operand] : llvm::zip_equal(step->getOperands(), copy->getOpOperands()))
    if (!isByName && isStacked(operand.get()))
      operand.set(reorderDims(builder, step->getLoc(), operand.get(),
                              stackFirst(getTensorType(before).getDims())));
  builder.insert(copy);
  for (auto [before, result] : llvm::zip_equal(step->getResults(), copy->getResults())) {
    NamedTensorType type = getTensorType(before);
    SmallVector<DimAttr> stacked = stackDims(type.getDims());
    result.setType(NamedTensorType::get(type.getElementType(),
                                        isByName ? stacked : stackFirst(type.getDims())));
    mapping.map(before, reorderDims(builder, step->getLoc(), result, stacked));
  }
}

/// Clones an operation with mapped operands. `asNumbers` drops all dimensions. Otherwise, results
/// with a stacked operand get the dimensions of the stack.
void OptimizerFunction::cloneStep(OpBuilder &builder, Operation *step, IRMapping &mapping,
                                  bool asNumbers) const {
  auto isMappedToStack = [&](Value operand) { return isStacked(mapping.lookup(operand)); };
  // Propagation chooses the shardings within an update.
  if (isa<ShardingConstraintOp>(step) || (asNumbers && isa<ExpandOp>(step))) {
    mapping.map(step->getResult(0), mapping.lookup(step->getOperand(0)));
    return;
  }
  if (llvm::any_of(step->getOperands(), isMappedToStack))
    return cloneStacked(builder, step, mapping);
  Operation *copy = builder.clone(*step, mapping);
  if (asNumbers)
    for (OpResult result : copy->getResults())
      result.setType(NamedTensorType::get(getTensorType(result).getElementType(), {}));
}

/// Inlines the body. Operands are cast to the function's element type, results to their stored
/// type.
SmallVector<Value> OptimizerFunction::inlineBody(OpBuilder &builder, Location loc,
                                                 const Operands &given, bool asNumbers) const {
  TensorBuilder math(builder, loc);
  Type computed = getTensorType(function.getArgument(parameter)).getElementType();
  auto widened = [&](Value value) { return math.cast(value, computed); };
  SmallVector<Value> before{given.parameter};
  llvm::append_range(before, given.states);
  SmallVector<Value> old = llvm::map_to_vector(before, widened);
  IRMapping mapping;
  mapping.map(function.getArgument(parameter), old.front());
  for (auto [state, value] : llvm::zip_equal(states, ArrayRef(old).drop_front()))
    mapping.map(function.getArgument(state.argument), value);
  Value scaled = widened(given.gradient);
  if (given.scale)
    scaled = math.mul(scaled, widened(given.scale));
  if (given.clipValue > 0) {
    Value bounded =
        math.create<MaximumOp>(scaled.getType(), scaled, math.constant(-given.clipValue, scaled));
    scaled =
        math.create<MinimumOp>(scaled.getType(), bounded, math.constant(given.clipValue, scaled));
  }
  mapping.map(function.getArgument(gradient), scaled);
  if (lr)
    mapping.map(function.getArgument(*lr), widened(given.lr));
  if (step)
    mapping.map(function.getArgument(*step), widened(given.step));
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator())
    cloneStep(builder, &op, mapping, asNumbers);
  Value isApplied;
  if (given.skipsNan)
    isApplied = math.compare(ComparePredicate::EQ, given.scale, given.scale);
  SmallVector<Value> after;
  for (auto [result, previous, stored] : llvm::zip_equal(results, old, before)) {
    Value next = mapping.lookup(body.getTerminator()->getOperand(result));
    if (!asNumbers)
      next = reorderDims(builder, loc, next, getTensorType(stored).getDims());
    if (isApplied)
      next = math.select(isApplied, next, previous);
    after.push_back(math.cast(next, getTensorType(stored).getElementType()));
  }
  return after;
}

/// A scalar function of the module equal to `made`, or `made` itself.
static ScalarFunctionOp findEqual(ModuleOp module, ScalarFunctionOp made) {
  for (auto known : module.getOps<ScalarFunctionOp>())
    if (known != made &&
        OperationEquivalence::isRegionEquivalentTo(&known.getBody(), &made.getBody(),
                                                   OperationEquivalence::IgnoreLocations))
      return known;
  return made;
}

SmallVector<Value> OptimizerFunction::apply(OpBuilder &builder, Location loc,
                                            const Operands &given) const {
  Operation *program = builder.getInsertionBlock()->getParentOp();
  auto module = program->getParentOfType<ModuleOp>();
  OpBuilder outside(builder.getContext());
  auto made =
      outside.create<ScalarFunctionOp>(function.getLoc(), (function.getName() + ".update").str());
  Block &body = made.getBody().emplaceBlock();
  SmallVector<Value> inputs;
  Operands numbers;
  auto add = [&](Value value) -> Value {
    if (!value)
      return {};
    inputs.push_back(value);
    Type number = NamedTensorType::get(getTensorType(value).getElementType(), {});
    return body.addArgument(number, value.getLoc());
  };
  numbers.parameter = add(given.parameter);
  numbers.gradient = add(given.gradient);
  for (Value state : given.states)
    numbers.states.push_back(add(state));
  numbers.lr = lr ? add(given.lr) : Value();
  numbers.step = step ? add(given.step) : Value();
  numbers.scale = add(given.scale);
  numbers.skipsNan = given.skipsNan;
  numbers.clipValue = given.clipValue;
  outside.setInsertionPointToEnd(&body);
  outside.create<YieldOp>(loc, inlineBody(outside, loc, numbers, /*asNumbers=*/true));
  ScalarFunctionOp callee = findEqual(module, made);
  if (callee == made)
    SymbolTable(module).insert(made, program->getIterator()); // makes the name unique
  else
    made.erase();
  SmallVector<Type> types{given.parameter.getType()};
  llvm::append_range(types, ValueRange(given.states).getTypes());
  auto apply =
      builder.create<ApplyOp>(loc, types, FlatSymbolRefAttr::get(callee.getSymNameAttr()), inputs);
  return SmallVector<Value>(apply.getResults());
}

SmallVector<Value> OptimizerFunction::build(OpBuilder &builder, Location loc,
                                            const Operands &operands) const {
  return isElementwise() ? apply(builder, loc, operands)
                         : inlineBody(builder, loc, operands, /*asNumbers=*/false);
}
