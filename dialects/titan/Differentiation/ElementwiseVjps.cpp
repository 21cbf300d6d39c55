// VJP rules of elementwise operations.
//
// Rules use the result if the derivative has a form in it (exp, sqrt, tanh, ...), because the
// result is more often available than the operand. At ties, maximum and minimum give one half of
// the cotangent to each operand, as torch.maximum does.

#include "dialects/titan/Differentiation/Differentiation.h"
#include "dialects/titan/Differentiation/VjpModel.h"

#include <cmath>

using namespace mlir;

namespace titan::ir {

static LogicalResult flow(NegOp, Vjp &v) {
  v.flowTo(0, [&] { return v.neg(v.cotangent()); });
  return success();
}

static LogicalResult flow(ExpOp op, Vjp &v) {
  v.flowTo(0, [&] { return v.mul(v.cotangent(), op.getResult()); });
  return success();
}

static LogicalResult flow(LogOp op, Vjp &v) {
  v.flowTo(0, [&] { return v.div(v.cotangent(), op.getInput()); });
  return success();
}

/// d sqrt(x) = dx / (2 sqrt(x)).
static LogicalResult flow(SqrtOp op, Vjp &v) {
  v.flowTo(0, [&] { return v.div(v.scale(v.cotangent(), 0.5), op.getResult()); });
  return success();
}

/// With y = x^(-1/2): dy = -1/2 y^3 dx.
static LogicalResult flow(RsqrtOp op, Vjp &v) {
  Value y = op.getResult();
  v.flowTo(0, [&] { return v.mul(v.cotangent(), v.scale(v.mul(v.mul(y, y), y), -0.5)); });
  return success();
}

/// With y = tanh(x): dy = (1 - y^2) dx.
static LogicalResult flow(TanhOp op, Vjp &v) {
  Value y = op.getResult();
  v.flowTo(0, [&] {
    Value square = v.mul(y, y);
    return v.mul(v.cotangent(), v.sub(v.constant(1, y), square));
  });
  return success();
}

/// With y = sigmoid(x): dy = y (1 - y) dx.
static LogicalResult flow(SigmoidOp op, Vjp &v) {
  Value y = op.getResult();
  v.flowTo(0, [&] { return v.mul(v.cotangent(), v.mul(y, v.sub(v.constant(1, y), y))); });
  return success();
}

/// d erf(x) = 2 / sqrt(pi) e^(-x^2) dx.
static LogicalResult flow(ErfOp op, Vjp &v) {
  Value x = op.getInput();
  v.flowTo(0, [&] {
    auto bell = v.create<ExpOp>(v.neg(v.mul(x, x)));
    return v.mul(v.cotangent(), v.scale(bell, 2 / std::sqrt(M_PI)));
  });
  return success();
}

static LogicalResult flow(SinOp op, Vjp &v) {
  Value x = op.getInput();
  v.flowTo(0, [&] { return v.mul(v.cotangent(), v.create<CosOp>(x)); });
  return success();
}

static LogicalResult flow(CosOp op, Vjp &v) {
  Value x = op.getInput();
  v.flowTo(0, [&] { return v.neg(v.mul(v.cotangent(), v.create<SinOp>(x))); });
  return success();
}

/// The derivative is 0: the function is constant between its jumps.
static LogicalResult flow(FloorOp, Vjp &) {
  return success();
}

static LogicalResult flow(AddOp, Vjp &v) {
  v.flowTo(0, [&] { return v.cotangent(); });
  v.flowTo(1, [&] { return v.cotangent(); });
  return success();
}

static LogicalResult flow(SubOp, Vjp &v) {
  v.flowTo(0, [&] { return v.cotangent(); });
  v.flowTo(1, [&] { return v.neg(v.cotangent()); });
  return success();
}

static LogicalResult flow(MulOp op, Vjp &v) {
  v.flowTo(0, [&] { return v.mul(v.cotangent(), op.getRhs()); });
  v.flowTo(1, [&] { return v.mul(v.cotangent(), op.getLhs()); });
  return success();
}

/// With z = x / y: dz = dx / y - z / y dy.
static LogicalResult flow(DivOp op, Vjp &v) {
  v.flowTo(0, [&] { return v.div(v.cotangent(), op.getRhs()); });
  v.flowTo(1, [&] { return v.neg(v.mul(v.div(v.cotangent(), op.getRhs()), op.getResult())); });
  return success();
}

/// With z = x^y: dz = y x^(y - 1) dx + z ln(x) dy.
static LogicalResult flow(PowOp op, Vjp &v) {
  Value x = op.getLhs(), y = op.getRhs();
  v.flowTo(0, [&] {
    Value less = v.sub(y, v.constant(1, y));
    auto power = v.create<PowOp>(x, less);
    return v.mul(v.cotangent(), v.mul(power, y));
  });
  v.flowTo(1, [&] { return v.mul(v.cotangent(), v.mul(op.getResult(), v.create<LogOp>(x))); });
  return success();
}

/// The operand for which `wins(operand, other operand)` is true receives the cotangent; at ties,
/// each operand receives one half.
static LogicalResult flowToWinner(Value lhs, Value rhs, ComparePredicate wins, Vjp &v) {
  auto build = [&](Value one, Value other) {
    Value tie = v.compare(ComparePredicate::EQ, lhs, rhs);
    Value half = v.scale(v.cotangent(), 0.5);
    Value fraction = v.select(tie, half, v.cotangent());
    Value isWinner = v.compare(wins, one, other);
    return v.select(isWinner, fraction, v.constant(0, one));
  };
  v.flowTo(0, [&] { return build(lhs, rhs); });
  v.flowTo(1, [&] { return build(rhs, lhs); });
  return success();
}

static LogicalResult flow(MaximumOp op, Vjp &v) {
  return flowToWinner(op.getLhs(), op.getRhs(), ComparePredicate::GE, v);
}

static LogicalResult flow(MinimumOp op, Vjp &v) {
  return flowToWinner(op.getLhs(), op.getRhs(), ComparePredicate::LE, v);
}

static LogicalResult flow(SelectOp op, Vjp &v) {
  Value condition = op.getCondition();
  auto zero = [&] { return v.constant(0, op.getResult()); };
  v.flowTo(1, [&] { return v.select(condition, v.cotangent(), zero()); });
  v.flowTo(2, [&] { return v.select(condition, zero(), v.cotangent()); });
  return success();
}

/// flowTo() converts the cotangent, so that a parameter's gradient is not rounded twice.
static LogicalResult flow(CastOp, Vjp &v) {
  v.flowTo(0, [&] { return v.cotangent(); });
  return success();
}

static LogicalResult flow(ExpandOp, Vjp &v) {
  v.flowTo(0, [&] { return v.cotangent(); });
  return success();
}

/// Booleans, integers and constants have no cotangent.
static LogicalResult flow(CompareOp, Vjp &) {
  return success();
}
static LogicalResult flow(ConstantOp, Vjp &) {
  return success();
}
static LogicalResult flow(IotaOp, Vjp &) {
  return success();
}
static LogicalResult flow(RandomOp, Vjp &) {
  return success();
}

void attachElementwiseVjps(MLIRContext *context) {
  attachVjps<NegOp, ExpOp, LogOp, SqrtOp, RsqrtOp, TanhOp, SigmoidOp, ErfOp, SinOp, CosOp, FloorOp,
             AddOp, SubOp, MulOp, DivOp, PowOp, MaximumOp, MinimumOp, SelectOp, CastOp, ExpandOp,
             CompareOp, ConstantOp, IotaOp, RandomOp>(context);
}

} // namespace titan::ir
