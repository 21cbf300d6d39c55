// The pass --titan-add-optimizer: adds clipping and the optimizer's update of every parameter.

#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Support/Turns.h"
#include "dialects/titan/Transforms/Gradient/OptimizerFunction.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANADDOPTIMIZER
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

namespace {

/// Arguments to append to a function in one change of its type. A change takes time in proportion
/// to the number of arguments.
struct NewArguments {
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;

  void insertInto(func::FuncOp function) const {
    SmallVector<unsigned> indices(types.size(), function.getNumArguments());
    function.insertArguments(indices, types, attributes, locations);
  }
};

/// A parameter with its gradient and optimizer, and the argument indices of parameter and states.
struct Trained {
  unsigned parameter;
  Value gradient;
  OptimizerFunction optimizer;
  SmallVector<unsigned> states;
};

/// Adds clipping and updates to one train program.
class OptimizerBuilder {
public:
  explicit OptimizerBuilder(func::FuncOp function)
      : function(function), ops(function.getBody().front().getTerminator()),
        math(ops, function.getLoc()) {}

  LogicalResult run();

private:
  LogicalResult readSettings();
  LogicalResult collectTrained();
  void addArguments();
  unsigned addArgument(Type type, ArrayRef<NamedAttribute> attributes, Location loc);
  unsigned addState(const Trained &one, const OptimizerFunction::State &state);
  void addScalar(StringRef name);
  Value getScalar(StringRef name) { return function.getArgument(scalars.at(name)); }
  Value sumPairwise(SmallVector<Value> sums);
  Value buildNorm();
  Value buildScale(Value norm);
  Value markNonFinite(Value scale, Value norm);
  void keepBuffers(Value scale);
  Value getRate(unsigned parameter);
  Value getUpdateNumber(unsigned parameter);
  void update(const Trained &one, Value scale);
  void eraseSettings();
  void insertOutputs(Value norm);

  func::FuncOp function;
  OpBuilder ops;
  TensorBuilder math;
  double clip = 0, clipValue = 0;
  bool skipsNonFinite = false;
  std::vector<Trained> trained;
  /// The type of norm and scalars: wide enough for all gradients, f32 at least.
  NamedTensorType scalarType;
  NewArguments arguments;
  llvm::StringMap<unsigned> scalars; ///< the arguments that the runtime sets, by name
  std::vector<ReturnedValue> updates;
};

} // namespace

/// Reads an attribute of the function that is an f64; absent: 0.
static LogicalResult readNumber(func::FuncOp function, StringRef name, double &number) {
  Attribute given = function->getAttr(name);
  if (!given)
    return success();
  auto attribute = dyn_cast<FloatAttr>(given);
  if (!attribute || !attribute.getType().isF64())
    return function.emitOpError("needs an f64 as ") << name << ", got " << given;
  number = attribute.getValueAsDouble();
  return success();
}

LogicalResult OptimizerBuilder::readSettings() {
  skipsNonFinite = function->hasAttr(attr::kSkipNonFinite);
  return failure(failed(readNumber(function, attr::kClip, clip)) ||
                 failed(readNumber(function, attr::kClipValue, clipValue)));
}

LogicalResult OptimizerBuilder::collectTrained() {
  Operation *terminator = function.getBody().front().getTerminator();
  llvm::DenseMap<std::pair<Attribute, Attribute>, Value> gradients; // by name and stage
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (Attribute name = function.getResultAttr(i, attr::kGradient))
      gradients.insert(
          {{name, function.getResultAttr(i, attr::kStage)}, terminator->getOperand(i)});
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!isTrained(function, i))
      continue;
    auto name = function.getArgAttrOfType<StringAttr>(i, attr::kParam);
    Value gradient = gradients.lookup({name, function.getArgAttr(i, attr::kStage)});
    if (!gradient)
      return function.emitOpError("returns no gradient of parameter ")
             << name << "; run --titan-differentiate first";
    FailureOr<OptimizerFunction> optimizer = OptimizerFunction::get(function, i);
    if (failed(optimizer))
      return failure();
    trained.push_back({i, gradient, *optimizer, {}});
  }
  if (trained.empty())
    return emitError(
        function.getLoc(),
        "there is no parameter to train: each one is frozen or has no influence on the loss");
  Type widest = ops.getF32Type();
  for (const Trained &one : trained)
    widest = getWider(widest, cast<NamedTensorType>(one.gradient.getType()).getElementType());
  scalarType = NamedTensorType::get(widest, {});
  return success();
}

/// Returns the index that the argument will have.
unsigned OptimizerBuilder::addArgument(Type type, ArrayRef<NamedAttribute> attributes,
                                       Location loc) {
  arguments.types.push_back(type);
  arguments.attributes.push_back(ops.getDictionaryAttr(attributes));
  arguments.locations.push_back(loc);
  return function.getNumArguments() + arguments.types.size() - 1;
}

unsigned OptimizerBuilder::addState(const Trained &one, const OptimizerFunction::State &state) {
  BlockArgument like = function.getArgument(one.parameter);
  auto name = function.getArgAttrOfType<StringAttr>(one.parameter, attr::kParam);
  StringAttr stateName = ops.getStringAttr(state.name.getValue() + "." + name.getValue());
  SmallVector<NamedAttribute> attributes{ops.getNamedAttr(attr::kState, stateName)};
  llvm::append_range(attributes, getSlotAttributes(function, one.parameter));
  Type element = PrecisionAttr::lookup(function).getOptimizer();
  if (!element)
    element = getTensorType(like).getElementType();
  return addArgument(one.optimizer.getStateType(state, element), attributes,
                     NameLoc::get(stateName, like.getLoc()));
}

/// Adds a scalar argument that the runtime sets, if the program lacks it.
void OptimizerBuilder::addScalar(StringRef name) {
  if (scalars.contains(name))
    return;
  StringAttr text = ops.getStringAttr(name);
  scalars[name] = addArgument(scalarType, ops.getNamedAttr(attr::kScalar, text),
                              NameLoc::get(text, function.getLoc()));
}

static FlatSymbolRefAttr getSchedule(func::FuncOp function, unsigned parameter) {
  return function.getArgAttrOfType<FlatSymbolRefAttr>(parameter, attr::kScheduledBy);
}

void OptimizerBuilder::addArguments() {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, attr::kScalar))
      scalars.try_emplace(name.getValue(), i);
  for (Trained &one : trained)
    for (const OptimizerFunction::State &state : one.optimizer.getStates())
      one.states.push_back(addState(one, state));
  addScalar(getRateScalar({}));
  addScalar("step");
  for (const Trained &one : trained)
    addScalar(getRateScalar(getSchedule(function, one.parameter)));
  arguments.insertInto(function);
}

/// Pairwise summation: the error grows with the logarithm of the number of terms.
Value OptimizerBuilder::sumPairwise(SmallVector<Value> sums) {
  while (sums.size() > 1) {
    SmallVector<Value> pairs;
    for (size_t i = 0; i < sums.size(); i += 2)
      pairs.push_back(i + 1 < sums.size() ? math.add(sums[i], sums[i + 1]) : sums[i]);
    sums = std::move(pairs);
  }
  return sums.front();
}

/// The 2-norm of all gradients. Each stage of a pipeline first sums the squares of its parameters,
/// so that only one number moves from each stage to all others.
Value OptimizerBuilder::buildNorm() {
  math.setLoc(NameLoc::get(ops.getStringAttr("grad_norm"), function.getLoc()));
  SmallVector<Value> sums;
  llvm::MapVector<Attribute, SmallVector<Value>> squaresOfStage;
  for (const Trained &one : trained) {
    Value square = math.create<ContractOp>(scalarType, one.gradient, one.gradient);
    if (Attribute stage = function.getArgAttr(one.parameter, attr::kStage))
      squaresOfStage[stage].push_back(square);
    else
      sums.push_back(square);
  }
  for (auto &[stage, squares] : squaresOfStage)
    sums.push_back(sumPairwise(std::move(squares)));
  return math.create<SqrtOp>(sumPairwise(std::move(sums)));
}

/// min(1, clip / (norm + 1e-6)), as in torch.nn.utils.clip_grad_norm_; null without clipping.
Value OptimizerBuilder::buildScale(Value norm) {
  if (clip == 0)
    return {};
  math.setLoc(NameLoc::get(ops.getStringAttr("clip_scale"), function.getLoc()));
  Value one = math.constant(1, norm);
  Value bound = math.add(norm, math.constant(1e-6, norm));
  Value ratio = math.div(math.constant(clip, norm), bound);
  return math.create<MinimumOp>(one, ratio);
}

/// Makes the scale NaN if the loss or the norm is not finite: x - x is 0 only for finite x.
Value OptimizerBuilder::markNonFinite(Value scale, Value norm) {
  math.setLoc(NameLoc::get(ops.getStringAttr("skip_nonfinite"), function.getLoc()));
  Operation *terminator = function.getBody().front().getTerminator();
  Value loss = terminator->getOperand(*findResult(function, attr::kOutput, "loss"));
  if (!scale)
    scale = math.constant(1, norm);
  for (Value value : {norm, math.cast(loss, scalarType.getElementType())})
    scale = math.add(scale, math.sub(value, value));
  return scale;
}

/// With a scale of NaN, buffers keep their values, as parameters do.
void OptimizerBuilder::keepBuffers(Value scale) {
  Operation *terminator = function.getBody().front().getTerminator();
  Value isApplied = math.compare(ComparePredicate::EQ, scale, scale);
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    auto updated = function.getResultAttrOfType<IntegerAttr>(i, attr::kUpdates);
    if (!updated)
      continue;
    Value next = terminator->getOperand(i);
    BlockArgument buffer = function.getArgument(updated.getInt());
    math.setLoc(NameLoc::get(ops.getStringAttr("kept"), buffer.getLoc()));
    terminator->setOperand(i, math.select(isApplied, next, buffer));
  }
}

/// The learning rate of the parameter's schedule, times the factor of the parameter.
Value OptimizerBuilder::getRate(unsigned parameter) {
  Value rate = getScalar(getRateScalar(getSchedule(function, parameter)));
  auto factor = function.getArgAttrOfType<FloatAttr>(parameter, attr::kRateScale);
  if (!factor)
    return rate;
  auto name = function.getArgAttrOfType<StringAttr>(parameter, attr::kParam);
  math.setLoc(NameLoc::get(ops.getStringAttr("lr_" + name.getValue()), function.getLoc()));
  return math.mul(rate, math.constant(factor.getValueAsDouble(), rate));
}

/// The number of updates of the parameter up to this one. The program runs only in steps of the
/// parameter's period, so the division is exact.
Value OptimizerBuilder::getUpdateNumber(unsigned parameter) {
  const titan::Period period = getPeriod(function, parameter);
  Value step = getScalar("step");
  if (period == titan::Period())
    return step;
  auto number = [&](int64_t value) { return math.constant(static_cast<double>(value), step); };
  math.setLoc(NameLoc::get(ops.getStringAttr("updates"), function.getLoc()));
  Value since = math.sub(step, number(period.offset + 1));
  Value earlier = math.div(since, number(period.every));
  return math.add(earlier, number(1));
}

void OptimizerBuilder::update(const Trained &one, Value scale) {
  BlockArgument parameter = function.getArgument(one.parameter);
  auto name = function.getArgAttrOfType<StringAttr>(one.parameter, attr::kParam);
  OptimizerFunction::Operands operands{parameter,
                                       one.gradient,
                                       getRate(one.parameter),
                                       getUpdateNumber(one.parameter),
                                       scale,
                                       skipsNonFinite,
                                       clipValue,
                                       {}};
  SmallVector<unsigned> replaced{one.parameter};
  llvm::append_range(replaced, one.states);
  for (unsigned state : one.states)
    operands.states.push_back(function.getArgument(state));
  Location loc = NameLoc::get(ops.getStringAttr("new_" + name.getValue()), parameter.getLoc());
  SmallVector<Value> next = one.optimizer.build(ops, loc, operands);
  for (auto [index, result] : llvm::zip_equal(replaced, next)) {
    SmallVector<NamedAttribute> attributes{
        ops.getNamedAttr(attr::kUpdates, ops.getI64IntegerAttr(index))};
    llvm::append_range(attributes, getSlotAttributes(function, one.parameter));
    updates.push_back({result, attributes});
  }
}

/// Removes the attributes that only this pass reads.
void OptimizerBuilder::eraseSettings() {
  SmallVector<DictionaryAttr> attributes;
  function.getAllArgAttrs(attributes);
  for (const Trained &one : trained) {
    NamedAttrList rest(attributes[one.parameter]);
    for (StringRef name : {attr::kUpdatedBy, attr::kScheduledBy, attr::kPeriod})
      rest.erase(name);
    attributes[one.parameter] = rest.getDictionary(function.getContext());
  }
  function.setAllArgAttrs(attributes);
}

/// Inserts the norm and the rank's unreduced loss after the loss, before the gradients.
void OptimizerBuilder::insertOutputs(Value norm) {
  const unsigned loss = *findResult(function, attr::kOutput, "loss");
  Operation *terminator = function.getBody().front().getTerminator();
  auto insert = [&](unsigned index, Value value, ArrayRef<NamedAttribute> attributes) {
    function.insertResult(index, value.getType(), ops.getDictionaryAttr(attributes));
    terminator->insertOperands(index, value);
  };
  auto name = [&](StringRef text) {
    return ops.getNamedAttr(attr::kOutput, ops.getStringAttr(text));
  };
  insert(loss + 1, norm, {name("grad_norm")});
  insert(loss + 2, terminator->getOperand(loss),
         {name("local_loss"), ops.getNamedAttr(attr::kUnreduced, ops.getUnitAttr())});
}

LogicalResult OptimizerBuilder::run() {
  if (failed(readSettings()) || failed(collectTrained()))
    return failure();
  addArguments();
  Value norm = buildNorm();
  Value scale = buildScale(norm);
  if (skipsNonFinite) {
    scale = markNonFinite(scale, norm);
    keepBuffers(scale);
  }
  insertOutputs(norm);
  for (const Trained &one : trained)
    update(one, scale);
  appendResults(function, updates);
  eraseSettings();
  return success();
}

namespace {
struct AddOptimizer : titan::ir::impl::TitanAddOptimizerBase<AddOptimizer> {
  void runOnOperation() override {
    for (func::FuncOp function : getTrainPrograms(getOperation()))
      if (failed(OptimizerBuilder(function).run()))
        return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function->hasAttr(attr::kOptimizer))
        function.erase();
  }
};
} // namespace
