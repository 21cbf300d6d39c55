//===- GradientCheck.cpp - Gradients against differences ------------------===//

#include "compiler/interpreter/GradientCheck.h"

#include "compiler/interpreter/Report.h"
#include "titan/runtime/random_stream.h"

#include <cmath>

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;

/// Components +-1/sqrt(n): no element is left out, and none weighs more.
static std::vector<double> drawDirection(StringRef name, size_t size) {
  rt::RandomStream stream(0, "direction", name.str());
  std::vector<double> direction(size);
  for (size_t i = 0; i < size; ++i)
    direction[i] = (stream.uniform(i) < 0.5 ? -1 : 1) / std::sqrt(static_cast<double>(size));
  return direction;
}

/// The loss with argument `index` moved by `distance` along `direction`.
static FailureOr<double> evaluateAt(Session &session, unsigned index, const HostTensor &start,
                                    const std::vector<double> &direction, double distance) {
  HostTensor moved = start;
  for (size_t i = 0; i < moved.data.size(); ++i)
    moved.data[i] += distance * direction[i];
  session.setArgument(index, moved);
  LogicalResult stepped = session.step(/*keep=*/false);
  session.setArgument(index, start);
  const Result *loss = succeeded(stepped) ? session.find("output", "loss") : nullptr;
  if (!loss)
    return failure();
  return loss->global.data[0];
}

static FailureOr<double> getSlope(Session &session, unsigned index, const HostTensor &start,
                                  const std::vector<double> &direction, double h) {
  double sum = 0;
  for (auto [distance, weight] :
       {std::pair(h, 8.0), std::pair(-h, -8.0), std::pair(2 * h, -1.0), std::pair(-2 * h, 1.0)}) {
    FailureOr<double> loss = evaluateAt(session, index, start, direction, distance);
    if (failed(loss))
      return failure();
    sum += weight * *loss;
  }
  return sum / (12 * h);
}

namespace {
struct Check {
  double slope = 0, expected = 0;
  bool agrees = false;
};
} // namespace

/// Holds the gradient of argument `index` against the slope along a direction.
static FailureOr<Check> checkGradient(Session &session, unsigned index, StringRef name,
                                      const HostTensor &gradient, double tolerance) {
  FailureOr<HostTensor> start = session.getArgument(index);
  if (failed(start))
    return failure();
  Check check;
  std::vector<double> direction = drawDirection(name, start->data.size());
  for (size_t i = 0; i < direction.size(); ++i)
    check.expected += gradient.data[i] * direction[i];
  double allowed = tolerance * getNorm(gradient.data) + 1e-10;
  for (double h : {1e-3, 1e-5}) {
    FailureOr<double> slope = getSlope(session, index, *start, direction, h);
    if (failed(slope))
      return failure();
    check.slope = *slope;
    check.agrees = std::abs(*slope - check.expected) <= allowed;
    if (check.agrees)
      break;
  }
  return check;
}

LogicalResult interpreter::checkGradients(Session &session, double tolerance,
                                          llvm::raw_ostream &stream) {
  if (failed(session.step(/*keep=*/false)))
    return failure();
  func::FuncOp function = session.getFunction();
  if (!session.find("output", "loss"))
    return function.emitError("has no result \"loss\" to differentiate");
  bool allAgree = true;
  unsigned checked = 0;
  std::vector<Result> results = session.getResults();
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    std::string name = getArgumentRole(function, index).name;
    auto gradient = llvm::find_if(results, [&](const Result &result) {
      return result.role.kind == "gradient" && result.role.name == name;
    });
    if (getArgumentRole(function, index).kind != "param" || gradient == results.end())
      continue;
    FailureOr<Check> check = checkGradient(session, index, name, gradient->global, tolerance);
    if (failed(check))
      return failure();
    stream << "gradient " << name << ": " << (check->agrees ? "agrees" : "DIFFERS") << ", slope "
           << format(check->slope) << ", gradient along it " << format(check->expected) << '\n';
    allAgree &= check->agrees;
    ++checked;
  }
  if (checked == 0)
    return function.emitError("has no gradient to check");
  return success(allAgree);
}
