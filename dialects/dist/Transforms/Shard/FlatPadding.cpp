// Finds values whose flat padding is 0.

#include "dialects/dist/Transforms/Shard/FlatPadding.h"
#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/Titan.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

namespace {

/// Follows a value to its definitions. A value that is reached again, an iteration argument, counts
/// as zero: its padding is 0 if that of all other definitions is.
class ZeroPadding {
public:
  bool isZero(Value value) {
    if (!visited.insert(value).second)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isZeroArgument(argument);
    Operation *op = value.getDefiningOp();
    if (auto repeat = dyn_cast<ir::RepeatOp>(op))
      return isZeroResult(repeat, cast<OpResult>(value).getResultNumber());
    if (auto constant = dyn_cast<ir::ConstantOp>(op))
      return constant.getNumber() == 0;
    return isa<ReshardOp>(op) || computesZero(op);
  }

private:
  bool areZero(ValueRange values) {
    return llvm::all_of(values, [&](Value value) { return isZero(value); });
  }

  bool isZeroArgument(BlockArgument argument) {
    std::optional<ir::RepeatVariant> body = ir::findVariant(argument.getOwner());
    if (!body)
      return true;
    for (const ir::RepeatVariant::ScannedInput &slice : body->getScannedInputs())
      if (slice.slot == argument)
        return isZero(slice.input);
    for (auto [number, carried] : llvm::enumerate(body->getIterArgs()))
      if (carried == argument)
        return isZeroResult(body->getRepeat(), number);
    return false;
  }

  /// Iteration arguments also have an initial value.
  bool isZeroResult(ir::RepeatOp repeat, unsigned number) {
    if (number < repeat.getNumIterArgs() && !isZero(repeat.getInits()[number]))
      return false;
    return areZero(repeat.getYielded(number));
  }

  /// Whether `op` computes 0 wherever some of its operands are 0. The others must be finite: 0 *
  /// inf is not 0. A scalar may be infinite, since all elements of the result are then infinite or
  /// NaN.
  bool computesZero(Operation *op) {
    auto interface = dyn_cast<ir::ShardingRuleOpInterface>(op);
    if (!interface)
      return false;
    ShardingRule rule = interface.getShardingRule();
    if (!rule.isElementwise)
      return false;
    auto isSufficient = [&](const std::vector<unsigned> &set) {
      DenseSet<Value> before = visited;
      bool isAllZero = llvm::all_of(llvm::enumerate(op->getOperands()), [&](auto operand) {
        return llvm::is_contained(set, operand.index()) ? isZero(operand.value())
                                                        : isFinite(operand.value());
      });
      if (!isAllZero) // what was assumed on the way does not hold
        visited = std::move(before);
      return isAllZero;
    };
    return llvm::any_of(rule.linearSets, isSufficient) || llvm::any_of(rule.zeroSets, isSufficient);
  }

  static bool isFinite(Value value) {
    auto type = cast<NamedTensorType>(value.getType());
    return type.getRank() == 0 || !isa<FloatType>(type.getElementType());
  }

  DenseSet<Value> visited;
};

} // namespace

bool dist::hasZeroPadding(Value value) {
  return ZeroPadding().isZero(value);
}
