// Compares gradients with finite differences, and describes cases for the comparison with PyTorch.

#include "compiler/interpreter/GradientCheck.h"
#include "compiler/interpreter/Widen.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "tests/ops/Checks.h"
#include "tests/ops/Programs.h"
#include "tests/ops/Weights.h"

using namespace mlir;
using namespace titan;
using namespace titan::ops;
using interpreter::Session;
namespace json = llvm::json;

static bool hasGradient(const Case &c) {
  return c.isDifferentiable && llvm::any_of(c.results, isReal) &&
         llvm::any_of(c.operands, [](const Tensor &operand) { return isReal(operand.type); });
}

OwningOpRef<ModuleOp> ops::differentiate(MLIRContext *context, const Case &c,
                                         const Weights &weights, std::unique_ptr<Pass> first) {
  OwningOpRef<ModuleOp> module = makeTraining(context, c, weights.byResult);
  PassManager manager(context);
  if (first)
    manager.addNestedPass<mlir::func::FuncOp>(std::move(first));
  if (c.isDifferentiable)
    manager.addNestedPass<mlir::func::FuncOp>(ir::createTitanDifferentiate());
  if (failed(verify(*module)) || failed(manager.run(*module)))
    return nullptr;
  interpreter::widenToFloat64(*module);
  return module;
}

bool ops::checkGradient(MLIRContext *context, const Case &c, Draw &draw, Counts &counts) {
  // stop_gradient differs from the slope by definition; PyTorch checks it.
  if (!hasGradient(c) || c.op == ir::StopGradientOp::getOperationName())
    return true;
  ++counts.gradients;
  Weights weights(c, draw);
  OwningOpRef<ModuleOp> module = differentiate(context, c, weights);
  if (!module)
    return false;
  std::string report;
  llvm::raw_string_ostream stream(report);
  auto session = Session::create(*module, "train", 1, {});
  if (succeeded(session) && succeeded(interpreter::checkGradients(*session, 1e-6, stream)))
    return true;
  llvm::errs() << report << *module << '\n';
  return false;
}

static json::Array describeDims(ir::NamedTensorType type) {
  json::Array dims;
  for (ir::DimAttr dim : type.getDims())
    dims.push_back(json::Array{dim.getName().getValue(), dim.getSize()});
  return dims;
}

static json::Object describeTensor(ir::NamedTensorType type, const std::vector<double> &values) {
  std::string element;
  llvm::raw_string_ostream(element) << type.getElementType();
  return json::Object{
      {"type", element}, {"dims", describeDims(type)}, {"values", json::Array(values)}};
}

static json::Value describeAttribute(Attribute attribute) {
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.getValue();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return integer.getInt();
  if (auto numbers = dyn_cast<DenseF64ArrayAttr>(attribute))
    return json::Array(numbers.asArrayRef());
  if (auto dim = dyn_cast<ir::DimAttr>(attribute))
    return json::Array{dim.getName().getValue(), dim.getSize()};
  if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    json::Array described;
    for (Attribute element : list)
      described.push_back(describeAttribute(element));
    return described;
  }
  return isa<UnitAttr>(attribute);
}

/// Runs the operation once on one rank.
static FailureOr<Session> runWhole(ModuleOp module, const Case &c) {
  SmallVector<ir::NamedTensorType> operands;
  for (const Tensor &operand : c.operands)
    operands.push_back(operand.type);
  func::FuncOp function = addFunction(module, c, operands, c.results);
  for (auto [i, operand] : llvm::enumerate(c.operands))
    function.setArgAttr(i, ir::attr::kValue,
                        Builder(module.getContext()).getDenseF64ArrayAttr(operand.values));
  auto session = Session::create(module, "op", 1, {});
  if (failed(session) || failed(session->step()))
    return failure();
  return session;
}

static std::optional<json::Object> describeGradients(MLIRContext *context, const Case &c,
                                                     const Weights &weights) {
  OwningOpRef<ModuleOp> module = differentiate(context, c, weights);
  if (!module)
    return std::nullopt;
  auto session = Session::create(*module, "train", 1, {});
  if (failed(session) || failed(session->step()))
    return std::nullopt;
  json::Object gradients;
  for (const interpreter::Result &result : session->getResults())
    if (result.role.kind == "gradient")
      gradients[result.role.name] = json::Array(result.global.data);
  return gradients;
}

std::optional<json::Value> ops::describe(MLIRContext *context, const Case &c, Draw &draw) {
  OwningOpRef<ModuleOp> module = makeModule(context);
  auto session = runWhole(*module, c);
  if (failed(session))
    return std::nullopt;
  json::Array operands, results, weighed;
  for (const Tensor &operand : c.operands)
    operands.push_back(describeTensor(operand.type, operand.values));
  for (auto [type, result] : llvm::zip_equal(c.results, session->getResults()))
    results.push_back(describeTensor(type, result.global.data));
  json::Object attributes;
  for (NamedAttribute attribute : c.attributes)
    attributes[attribute.getName().getValue()] = describeAttribute(attribute.getValue());
  json::Object described{{"op", c.op},
                         {"operands", std::move(operands)},
                         {"results", std::move(results)},
                         {"attributes", std::move(attributes)}};
  if (!hasGradient(c))
    return described;
  Weights weights(c, draw);
  for (const Tensor *weight : weights.byResult)
    weighed.push_back(weight ? json::Value(json::Array(weight->values)) : json::Value(nullptr));
  auto gradients = describeGradients(context, c, weights);
  if (!gradients)
    return std::nullopt;
  described["weights"] = std::move(weighed);
  described["gradients"] = std::move(*gradients);
  return described;
}
