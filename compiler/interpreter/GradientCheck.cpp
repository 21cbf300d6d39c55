// Compares gradients with finite differences.

#include "compiler/interpreter/GradientCheck.h"

#include "base/random/RandomStream.h"
#include "compiler/interpreter/Report.h"
#include "dialects/titan/Support/Programs.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace mlir;
using namespace titan;
using namespace titan::interpreter;
using ir::HostTensor;

/// Components +-1/sqrt(n): every element has the same weight.
static std::vector<double> drawDirection(StringRef name, size_t size) {
  RandomStream stream(0, "direction", name.str());
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
  const Result *loss = succeeded(stepped) ? session.find({"output", "loss"}) : nullptr;
  if (!loss)
    return failure();
  return loss->global.data[0];
}

/// The slope along `direction` by the five-point formula with the distance `h`.
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
enum class Verdict {
  Agrees,
  AtBend, ///< equal slopes, but different curvatures on the two sides of the parameter
  AtKink, ///< different slopes on the two sides; the gradient is between them
  Jumps,  ///< the loss is discontinuous
  Differs
};

struct Check {
  double slope = 0, expected = 0;
  Verdict verdict = Verdict::Differs;
};

const std::array<double, 3> kDistances{1e-3, 1e-5, 1e-7};
constexpr double kRoundingOfNearest = 1e-8; // of a slope at the smallest distance: 1e-15 / 1e-7

/// Whether the slopes converge to `expected` in proportion to the distance, of which each is a
/// hundredth of the one before. They do if both sides of the parameter have the same slope but
/// different curvatures. The slopes of a smooth loss converge faster, and with a wrong gradient the
/// errors do not become smaller. Half of the ideal factor 100 suffices.
bool differsInCurvature(const std::array<double, 3> &slopes, double expected) {
  std::array<double, 3> errors{};
  for (auto [slope, error] : llvm::zip_equal(slopes, errors))
    error = std::abs(slope - expected);
  return errors[1] < errors[0] / 50 && errors[2] < errors[1] / 50 + kRoundingOfNearest;
}

/// Whether the loss jumps at the parameter. If the distance shrinks to a hundredth, the change of a
/// loss with a slope shrinks to a hundredth, too, but a jump keeps its size: more than a tenth of
/// the change is left. Rounding errors of about 1e-15 are no jump.
bool isDiscontinuous(const std::array<double, 3> &slopes) {
  double far = slopes[1] * kDistances[1], near = slopes[2] * kDistances[2]; // changes of the loss
  return std::abs(near) > 1e-9 && std::abs(near) > 0.1 * std::abs(far);
}
} // namespace

/// Whether the loss has different slopes on both sides of the parameter, and `expected` is between
/// them. Any value between them is a gradient (a subgradient, if the loss is convex).
static FailureOr<bool> isAtKink(Session &session, unsigned index, const HostTensor &start,
                                const std::vector<double> &direction, double expected,
                                double allowed) {
  const double h = kDistances.back();
  std::array<double, 3> losses{};
  for (auto [distance, loss] : llvm::zip_equal(std::array{-h, 0.0, h}, losses)) {
    FailureOr<double> found = evaluateAt(session, index, start, direction, distance);
    if (failed(found))
      return failure();
    loss = *found;
  }
  auto [least, greatest] = std::minmax({(losses[1] - losses[0]) / h, (losses[2] - losses[1]) / h});
  double slack = allowed + kRoundingOfNearest;
  // At a kink, the slopes differ by much more than rounding errors.
  return greatest - least > 10 * slack && expected > least - slack && expected < greatest + slack;
}

/// Compares the gradient of argument `index` with the slope along a direction.
static FailureOr<Check> checkGradient(Session &session, unsigned index, StringRef name,
                                      const HostTensor &gradient, double tolerance) {
  FailureOr<HostTensor> start = session.getArgument(index);
  if (failed(start))
    return failure();
  Check check;
  std::vector<double> direction = drawDirection(name, start->data.size());
  for (size_t i = 0; i < direction.size(); ++i)
    check.expected += gradient.data[i] * direction[i];
  // A slope near 0 has rounding errors, too.
  double allowed = tolerance * getNorm(gradient.data) + 1e-10;
  std::array<double, 3> slopes{};
  for (auto [h, slope] : llvm::zip_equal(kDistances, slopes)) {
    FailureOr<double> found = getSlope(session, index, *start, direction, h);
    if (failed(found))
      return failure();
    check.slope = slope = *found;
    if (std::abs(slope - check.expected) <= allowed) {
      check.verdict = Verdict::Agrees;
      return check;
    }
  }
  FailureOr<bool> atKink = isAtKink(session, index, *start, direction, check.expected, allowed);
  if (failed(atKink))
    return failure();
  check.verdict = isDiscontinuous(slopes)                      ? Verdict::Jumps
                  : *atKink                                    ? Verdict::AtKink
                  : differsInCurvature(slopes, check.expected) ? Verdict::AtBend
                                                               : Verdict::Differs;
  return check;
}

static StringRef getWord(Verdict verdict) {
  switch (verdict) {
  case Verdict::Agrees:
    return "agrees";
  case Verdict::AtBend:
    return "is the limit of the differences";
  case Verdict::AtKink:
    return "is between the slopes of a kink";
  case Verdict::Jumps:
    return "does not exist, the loss jumps";
  case Verdict::Differs:
    return "DIFFERS";
  }
  llvm_unreachable("every verdict is handled");
}

LogicalResult interpreter::checkGradients(Session &session, double tolerance,
                                          llvm::raw_ostream &stream) {
  if (failed(session.step(/*keep=*/false)))
    return failure();
  func::FuncOp function = session.getFunction();
  if (!session.find({"output", "loss"}))
    return function.emitError("has no result \"loss\" to differentiate");
  bool allAgree = true;
  unsigned checked = 0;
  std::vector<Result> results = session.getResults();
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    std::string name = getArgumentRole(function, index).name;
    std::optional<unsigned> gradient = ir::findGradient(function, index);
    if (!gradient)
      continue;
    FailureOr<Check> check =
        checkGradient(session, index, name, results[*gradient].global, tolerance);
    if (failed(check))
      return failure();
    stream << "gradient " << name << ": " << getWord(check->verdict) << ", slope "
           << format(check->slope) << ", gradient along it " << format(check->expected) << '\n';
    allAgree &= check->verdict != Verdict::Differs;
    ++checked;
  }
  if (checked == 0)
    return function.emitError("has no gradient to check");
  return success(allAgree);
}
