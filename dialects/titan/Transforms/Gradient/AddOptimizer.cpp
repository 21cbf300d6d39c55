//===- AddOptimizer.cpp - Clipping and the optimizer's updates ------------===//

#include "dialects/titan/IR/ElementTypes.h"
#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/Support/Programs.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANADDOPTIMIZER
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan::ir;

namespace {

/// `titan.optimizer`, read and checked.
struct Settings {
  FloatAttr beta1, beta2, eps;
  double clip = 0;
  UnitAttr skipsNonFinite;
};

/// A parameter with its gradient and the numbers of the arguments that hold it and its moments.
struct Trained {
  unsigned parameter, m, v;
  Value gradient;
};

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
  unsigned addState(unsigned parameter, StringRef prefix);
  Value addScalar(StringRef name);
  Value buildNorm();
  Value buildScale(Value norm);
  Value spoilScale(Value scale, Value norm);
  void keepBuffers(Value scale);
  Value getRate(unsigned parameter);
  std::pair<FloatAttr, FloatAttr> getBetas(unsigned parameter);
  void update(const Trained &one, Value scale);
  void insertOutputs(Value norm);

  func::FuncOp function;
  OpBuilder ops;
  TensorBuilder math;
  Settings settings;
  SmallVector<Trained> trained;
  /// The type of norm and scalars: wide enough for all gradients, f32 at least.
  NamedTensorType scalarType;
  Value lr, step;
};

} // namespace

LogicalResult OptimizerBuilder::readSettings() {
  auto dictionary = function->getAttrOfType<DictionaryAttr>(attr::kOptimizer);
  if (!dictionary)
    return function.emitOpError("has no attribute ") << attr::kOptimizer;
  auto name = dictionary.getAs<StringAttr>("name");
  if (!name || name.getValue() != "adamw")
    return function.emitOpError("asks for an unknown optimizer ")
           << dictionary.get("name") << "; known: \"adamw\"";
  FloatAttr clip;
  for (auto [key, value] : {std::pair<StringRef, FloatAttr *>("beta1", &settings.beta1),
                            {"beta2", &settings.beta2},
                            {"eps", &settings.eps},
                            {"clip", &clip}}) {
    *value = dictionary.getAs<FloatAttr>(key);
    if (!*value || !value->getType().isF64())
      return function.emitOpError("needs ")
             << key << " as an f64 in " << attr::kOptimizer << ", got " << dictionary.get(key);
  }
  settings.clip = clip.getValueAsDouble();
  settings.skipsNonFinite = dictionary.getAs<UnitAttr>("skip_nonfinite");
  return success();
}

LogicalResult OptimizerBuilder::collectTrained() {
  Operation *terminator = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!isTrained(function, i))
      continue;
    auto name = function.getArgAttrOfType<StringAttr>(i, attr::kParam);
    std::optional<unsigned> gradient = findResult(function, attr::kGradient, name.getValue());
    if (!gradient)
      return function.emitOpError("returns no gradient of parameter ")
             << name << "; run --titan-differentiate first";
    if (Attribute own = function.getArgAttr(i, attr::kBetas))
      if (auto betas = dyn_cast<DenseF64ArrayAttr>(own); !betas || betas.size() != 2)
        return function.emitOpError("needs two numbers as ")
               << attr::kBetas << " of parameter " << name << ", got " << own;
    trained.push_back({i, 0, 0, terminator->getOperand(*gradient)});
  }
  if (trained.empty())
    return emitError(function.getLoc(), "there is no parameter to train: each is frozen, or has no "
                                        "influence on the loss");
  Type widest = ops.getF32Type();
  for (const Trained &one : trained)
    widest = getWider(widest, cast<NamedTensorType>(one.gradient.getType()).getElementType());
  scalarType = NamedTensorType::get(widest, {});
  return success();
}

unsigned OptimizerBuilder::addState(unsigned parameter, StringRef prefix) {
  BlockArgument like = function.getArgument(parameter);
  auto name = function.getArgAttrOfType<StringAttr>(parameter, attr::kParam);
  StringAttr stateName = ops.getStringAttr(prefix + "." + name.getValue());
  SmallVector<NamedAttribute> attributes{ops.getNamedAttr(attr::kState, stateName)};
  if (Attribute stacked = function.getArgAttr(parameter, attr::kStacked))
    attributes.push_back(ops.getNamedAttr(attr::kStacked, stacked));
  auto type = cast<NamedTensorType>(like.getType());
  if (Type declared = Precision::get(function).optimizer)
    type = type.withElementType(declared);
  unsigned index = function.getNumArguments();
  function.insertArgument(index, type, ops.getDictionaryAttr(attributes),
                          NameLoc::get(stateName, like.getLoc()));
  return index;
}

/// A scalar that the runtime sets; the program may have it already.
Value OptimizerBuilder::addScalar(StringRef name) {
  StringAttr wanted = ops.getStringAttr(name);
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(), attr::kScalar) == wanted)
      return argument;
  unsigned index = function.getNumArguments();
  NamedAttribute attribute = ops.getNamedAttr(attr::kScalar, ops.getStringAttr(name));
  function.insertArgument(index, scalarType, ops.getDictionaryAttr(attribute),
                          NameLoc::get(ops.getStringAttr(name), function.getLoc()));
  return function.getArgument(index);
}

void OptimizerBuilder::addArguments() {
  for (Trained &one : trained) {
    one.m = addState(one.parameter, "m");
    one.v = addState(one.parameter, "v");
  }
  lr = addScalar("lr");
  step = addScalar("step");
}

/// The 2-norm of all gradients together. Squares are added in pairs, so that the error grows with
/// the logarithm of their number.
Value OptimizerBuilder::buildNorm() {
  math.setLoc(NameLoc::get(ops.getStringAttr("grad_norm"), function.getLoc()));
  SmallVector<Value> sums;
  for (const Trained &one : trained)
    sums.push_back(math.create<ContractOp>(scalarType, one.gradient, one.gradient));
  while (sums.size() > 1) {
    SmallVector<Value> pairs;
    for (size_t i = 0; i < sums.size(); i += 2)
      pairs.push_back(i + 1 < sums.size() ? math.add(sums[i], sums[i + 1]) : sums[i]);
    sums = std::move(pairs);
  }
  return math.create<SqrtOp>(scalarType, sums.front());
}

/// min(1, clip / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_ has it.
Value OptimizerBuilder::buildScale(Value norm) {
  math.setLoc(NameLoc::get(ops.getStringAttr("clip_scale"), function.getLoc()));
  Value one = math.constant(1, norm);
  if (settings.clip == 0)
    return one;
  Value bound = math.add(norm, math.constant(1e-6, norm));
  Value ratio = math.div(math.constant(settings.clip, norm), bound);
  return math.create<MinimumOp>(scalarType, one, ratio);
}

/// The scale; not a number where the loss or the norm is not finite. x - x is 0 where x is finite.
Value OptimizerBuilder::spoilScale(Value scale, Value norm) {
  math.setLoc(NameLoc::get(ops.getStringAttr("skip_nonfinite"), function.getLoc()));
  Operation *terminator = function.getBody().front().getTerminator();
  Value loss = terminator->getOperand(*findResult(function, attr::kOutput, "loss"));
  for (Value value : {norm, math.cast(loss, scalarType.getElementType())})
    scale = math.add(scale, math.sub(value, value));
  return scale;
}

/// Where the scale is not a number, buffers keep their values like parameters.
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

/// The learning rate of a parameter: the schedule's, times its own factor where it has one.
Value OptimizerBuilder::getRate(unsigned parameter) {
  auto factor = function.getArgAttrOfType<FloatAttr>(parameter, attr::kRateScale);
  if (!factor)
    return lr;
  auto name = function.getArgAttrOfType<StringAttr>(parameter, attr::kParam);
  math.setLoc(NameLoc::get(ops.getStringAttr("lr_" + name.getValue()), function.getLoc()));
  return math.mul(lr, math.constant(factor.getValueAsDouble(), lr));
}

/// The decay rates of a parameter's moments: its own where it has such, else the optimizer's.
std::pair<FloatAttr, FloatAttr> OptimizerBuilder::getBetas(unsigned parameter) {
  auto own = function.getArgAttrOfType<DenseF64ArrayAttr>(parameter, attr::kBetas);
  if (!own)
    return {settings.beta1, settings.beta2};
  return {ops.getF64FloatAttr(own[0]), ops.getF64FloatAttr(own[1])};
}

void OptimizerBuilder::update(const Trained &one, Value scale) {
  BlockArgument parameter = function.getArgument(one.parameter);
  auto name = function.getArgAttrOfType<StringAttr>(one.parameter, attr::kParam);
  auto decay = function.getArgAttrOfType<FloatAttr>(one.parameter, attr::kDecay);
  Value rate = getRate(one.parameter);
  auto [beta1, beta2] = getBetas(one.parameter);
  math.setLoc(NameLoc::get(ops.getStringAttr("new_" + name.getValue()), parameter.getLoc()));
  BlockArgument m = function.getArgument(one.m), v = function.getArgument(one.v);
  auto adamw =
      math.create<AdamWOp>(TypeRange{parameter.getType(), m.getType(), v.getType()}, parameter,
                           one.gradient, m, v, rate, step, scale, beta1, beta2, settings.eps,
                           decay ? decay : ops.getF64FloatAttr(0), settings.skipsNonFinite);
  for (auto [index, result] :
       {std::pair(one.parameter, adamw.getNewParameter()), std::pair(one.m, adamw.getNewM()),
        std::pair(one.v, adamw.getNewV())}) {
    SmallVector<NamedAttribute> attributes{
        ops.getNamedAttr(attr::kUpdates, ops.getI64IntegerAttr(index))};
    if (Attribute stacked = function.getArgAttr(one.parameter, attr::kStacked))
      attributes.push_back(ops.getNamedAttr(attr::kStacked, stacked));
    appendResult(function, result, attributes);
  }
}

/// The norm and each rank's own loss stand directly behind the loss, before the gradients.
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
  if (settings.skipsNonFinite) {
    scale = spoilScale(scale, norm);
    keepBuffers(scale);
  }
  insertOutputs(norm);
  for (const Trained &one : trained)
    update(one, scale);
  return success();
}

namespace {
struct AddOptimizer : titan::ir::impl::TitanAddOptimizerBase<AddOptimizer> {
  void runOnOperation() override {
    if (isTrainProgram(getOperation()) && failed(OptimizerBuilder(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
