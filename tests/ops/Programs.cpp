// Modules with one operation.

#include "tests/ops/Programs.h"

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using ir::NamedTensorType;

/// The function that tests titan.apply: m' = 0.9 m + 0.1 g; p' = p - rate m' / sqrt(m' m' + 1).
static void addScalarFunction(OpBuilder &b) {
  Location loc = b.getUnknownLoc();
  OpBuilder::InsertionGuard guard(b);
  auto function = b.create<ir::ScalarFunctionOp>(loc, "update");
  auto number = NamedTensorType::get(b.getF64Type(), {});
  Block &body = function.getBody().emplaceBlock();
  body.addArguments(SmallVector<Type>(4, number), SmallVector<Location>(4, loc));
  b.setInsertionPointToStart(&body);
  auto constant = [&](double value) {
    return b.create<ir::ConstantOp>(loc, number, b.getF64FloatAttr(value));
  };
  auto mul = [&](Value x, Value y) -> Value { return b.create<ir::MulOp>(loc, number, x, y); };
  auto add = [&](Value x, Value y) -> Value { return b.create<ir::AddOp>(loc, number, x, y); };
  Value p = body.getArgument(0), g = body.getArgument(1), m = body.getArgument(2);
  Value next = add(mul(constant(0.9), m), mul(constant(0.1), g));
  Value size = b.create<ir::SqrtOp>(loc, number, add(mul(next, next), constant(1)));
  Value step = b.create<ir::DivOp>(loc, number, mul(body.getArgument(3), next), size);
  Value moved = b.create<ir::SubOp>(loc, number, p, step);
  b.create<ir::YieldOp>(loc, ValueRange{moved, next});
}

OwningOpRef<ModuleOp> ops::makeModule(MLIRContext *context, ArrayRef<int64_t> shape) {
  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  SmallVector<Attribute> axes;
  for (auto [i, degree] : llvm::enumerate(shape)) {
    auto name = b.getStringAttr(StringRef("xyzw").substr(i, 1));
    axes.push_back(dist::MeshAxisAttr::get(context, name, degree));
  }
  addScalarFunction(b);
  if (!axes.empty())
    b.create<dist::MeshOp>(loc, b.getStringAttr("mesh"), b.getArrayAttr(axes));
  return module;
}

/// A function with these arguments and an empty body, at the builder's insertion point.
static func::FuncOp startFunction(OpBuilder &b, StringRef name, ArrayRef<Type> arguments) {
  Location loc = b.getUnknownLoc();
  auto function = b.create<func::FuncOp>(loc, name, b.getFunctionType(arguments, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

static void endFunction(OpBuilder &b, func::FuncOp function, ValueRange results) {
  b.create<func::ReturnOp>(b.getUnknownLoc(), results);
  function.setFunctionType(b.getFunctionType(function.getArgumentTypes(), results.getTypes()));
}

static Operation *createOp(OpBuilder &b, const Case &c, ValueRange operands,
                           ArrayRef<NamedTensorType> results) {
  OperationState state(b.getUnknownLoc(), c.op);
  state.addOperands(operands);
  state.addTypes(SmallVector<Type>(results.begin(), results.end()));
  state.addAttributes(c.attributes);
  return b.create(state);
}

func::FuncOp ops::addFunction(ModuleOp module, const Case &c, ArrayRef<NamedTensorType> operands,
                              ArrayRef<NamedTensorType> results) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> arguments(operands.begin(), operands.end());
  func::FuncOp function = startFunction(b, "op", arguments);
  Operation *op = createOp(b, c, function.getArguments(), results);
  SmallVector<Value> values;
  for (Value result : op->getResults()) {
    auto type = cast<NamedTensorType>(result.getType());
    dist::ShardingAttr sharding = type.getShardingOrReplicated();
    if (sharding.isPartial())
      result = b.create<dist::AllReduceOp>(b.getUnknownLoc(),
                                           type.withSharding(sharding.withoutPartial()), result,
                                           sharding.getPartialAxes(), IntegerAttr())
                   .getResults()
                   .front();
    values.push_back(result);
  }
  endFunction(b, function, values);
  return function;
}

void ops::addProgram(ModuleOp module, const Case &c, StringRef name) {
  SmallVector<NamedTensorType> operands;
  for (const Tensor &operand : c.operands)
    operands.push_back(operand.type);
  func::FuncOp function = addFunction(module, c, operands, c.results);
  OpBuilder b(module.getContext());
  function.setName(name);
  function->setAttr(ir::attr::kProgram, b.getStringAttr(name));
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.setArgAttr(i, ir::attr::kInput, b.getStringAttr(std::to_string(i)));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.setResultAttr(i, ir::attr::kOutput, b.getStringAttr(std::to_string(i)));
}

/// The sum of `value` times `weight`.
static Value weigh(OpBuilder &b, Value value, Value weight) {
  auto scalar = NamedTensorType::get(b.getF64Type(), {});
  auto type = cast<NamedTensorType>(weight.getType());
  if (value.getType() != type)
    value = b.create<ir::CastOp>(b.getUnknownLoc(), type, value);
  return b.create<ir::ContractOp>(b.getUnknownLoc(), scalar, value, weight);
}

/// Arguments contain their values; floating-point operands are parameters.
static void setRoles(OpBuilder &b, func::FuncOp function, ArrayRef<const Tensor *> arguments,
                     size_t numOperands) {
  for (auto [i, tensor] : llvm::enumerate(arguments)) {
    function.setArgAttr(i, ir::attr::kValue, b.getDenseF64ArrayAttr(tensor->values));
    if (i < numOperands && isReal(tensor->type))
      function.setArgAttr(i, ir::attr::kParam, b.getStringAttr("p" + std::to_string(i)));
  }
}

OwningOpRef<ModuleOp> ops::makeTraining(MLIRContext *context, const Case &c,
                                        ArrayRef<const Tensor *> weights) {
  OwningOpRef<ModuleOp> module = makeModule(context);
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  SmallVector<const Tensor *> arguments;
  for (const Tensor &operand : c.operands)
    arguments.push_back(&operand);
  for (const Tensor *weight : weights)
    if (weight)
      arguments.push_back(weight);
  SmallVector<Type> types;
  for (const Tensor *argument : arguments)
    types.push_back(argument->type);
  func::FuncOp function = startFunction(b, "train", types);
  setRoles(b, function, arguments, c.operands.size());
  function->setAttr(ir::attr::kProgram, b.getStringAttr("train"));
  Operation *op = createOp(b, c, function.getArguments().take_front(c.operands.size()), c.results);
  Value loss;
  unsigned next = c.operands.size();
  for (auto [result, weight] : llvm::zip_equal(op->getResults(), weights)) {
    if (!weight)
      continue;
    Value term = weigh(b, result, function.getArgument(next++));
    loss = loss ? b.create<ir::AddOp>(b.getUnknownLoc(), term.getType(), loss, term) : term;
  }
  endFunction(b, function, loss);
  function.setResultAttr(0, ir::attr::kOutput, b.getStringAttr("loss"));
  return module;
}
