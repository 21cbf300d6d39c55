// The verifier of softplus.softplus, and its implementations of Titan's interfaces.

#include "Softplus.h"

#include "dialects/titan/Differentiation/VjpModel.h"
#include "dialects/titan/Kernels/ScalarText.h"
#include "dialects/titan/ShardingRules/RuleBuilder.h"

#include <cmath>

using namespace mlir;
using namespace titan;
using namespace softplus;

#include "SoftplusDialect.cpp.inc"
#define GET_OP_CLASSES
#include "Softplus.cpp.inc"

void SoftplusDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Softplus.cpp.inc"
      >();
}

LogicalResult SoftplusOp::verify() {
  if (!getInput().getType().equalsUpToSharding(getResult().getType()))
    return emitOpError("(C1) operand and result differ: ")
           << getInput().getType() << " and " << getResult().getType();
  return success();
}

/// With y = softplus(x): dy = sigmoid(x) dx. The gradient consists of Titan's operations, so all
/// later phases can process it.
LogicalResult SoftplusOp::buildVjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                                   MutableArrayRef<Value> operandCotangents) {
  ir::Vjp vjp(*this, builder, cotangents, operandCotangents);
  vjp.flowTo(0, [&] {
    Value slope = vjp.create<ir::SigmoidOp>(getInput());
    return vjp.mul(vjp.cotangent(), slope);
  });
  return success();
}

/// Every dimension may be sharded, and the operand may be flat storage. No partial sum passes
/// through, because the function is not linear.
dist::ShardingRule SoftplusOp::getShardingRule() {
  dist::ShardingRule rule = ir::buildRuleByName(*this);
  rule.isElementwise = true;
  return rule;
}

LogicalResult SoftplusOp::evaluate(ArrayRef<const ir::HostTensor *> operands,
                                   MutableArrayRef<ir::HostTensor> results,
                                   const ir::RankShards &shards) {
  for (auto [x, y] : llvm::zip_equal(operands[0]->data, results[0].data))
    evaluateElement(x, y);
  return success();
}

void SoftplusOp::evaluateElement(ArrayRef<double> in, MutableArrayRef<double> out) {
  out[0] = std::max(in[0], 0.0) + std::log1p(std::exp(-std::abs(in[0])));
}

/// max(x, 0) + log(1 + exp(-|x|)) as C++, with min(x, -x) for -|x|.
std::string SoftplusOp::getElementExpression(ArrayRef<std::string> in, unsigned, StringRef type) {
  return ir::fillPattern("(tm::max($0, $T(0)) + tm::log($T(1) + tm::exp(tm::min($0, -$0))))", in,
                         type);
}
