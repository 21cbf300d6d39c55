#include "compiler/plan/LineReport.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;

namespace titan::plan {
namespace {

class LineCounter {
public:
  explicit LineCounter(const dist::Degrees &degrees) : degrees(degrees) {}

  void count(Region &region, double times) {
    for (Operation &op : region.getOps())
      count(op, times);
  }

  std::vector<LineCost> take() {
    std::vector<LineCost> costs;
    for (auto &[key, cost] : lines)
      if (cost.flops + cost.bytesRead + cost.bytesWritten > 0)
        costs.push_back(std::move(cost));
    llvm::stable_sort(costs, [](const LineCost &a, const LineCost &b) {
      return std::pair(a.flops, a.bytesRead + a.bytesWritten) >
             std::pair(b.flops, b.bytesRead + b.bytesWritten);
    });
    return costs;
  }

private:
  void count(Operation &op, double times) {
    if (auto repeat = dyn_cast<ir::RepeatOp>(op)) {
      for (const ir::RepeatVariant &body : repeat.getVariants())
        count(body.getRegion(), times * static_cast<double>(body.getCount()));
      return;
    }
    countFlops(&op, times);
    if (auto fused = dyn_cast<ir::FusedOp>(op))
      return countFused(fused, times);
    if (op.hasTrait<OpTrait::IsTerminator>() || ir::isView(&op))
      return;
    for (Value operand : op.getOperands())
      getCost(&op).bytesRead += times * getBytes(operand);
    for (Value result : op.getResults())
      getCost(&op).bytesWritten += times * getBytes(result);
  }

  void countFlops(Operation *op, double times) {
    if (auto cost = dyn_cast<ir::CostOpInterface>(op))
      getCost(op).flops += times * cost.getFlops(degrees);
  }

  /// An external operand of the region is read once, by its first user.
  void countFused(ir::FusedOp fused, double times) {
    llvm::SmallSetVector<Value, 8> read;
    for (Operation &op : fused.getBody().getOps()) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        continue;
      countFlops(&op, times);
      for (Value operand : op.getOperands())
        if (operand.getParentRegion() != &fused.getBody() && read.insert(operand))
          getCost(&op).bytesRead += times * getBytes(operand);
    }
    for (Value result : fused.getYield().getOperands())
      getCost(result.getDefiningOp() ? result.getDefiningOp() : fused).bytesWritten +=
          times * getBytes(result);
  }

  double getBytes(Value value) const {
    auto type = dyn_cast<ir::NamedTensorType>(value.getType());
    if (!type || memory::isInline(value))
      return 0;
    unsigned width = llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
    return static_cast<double>(dist::getLocalNumElements(type, degrees)) * width;
  }

  /// The cost of the operation's source line.
  LineCost &getCost(Operation *op) {
    std::pair<std::string, unsigned> key;
    if (auto line = op->getLoc()->findInstanceOf<FileLineColLoc>())
      key = {line.getFilename().str(), line.getLine()};
    LineCost &cost = lines[key];
    std::tie(cost.file, cost.line) = key;
    return cost;
  }

  const dist::Degrees &degrees;
  std::map<std::pair<std::string, unsigned>, LineCost> lines;
};

} // namespace

std::vector<LineCost> reportLines(const std::vector<Execution> &functions,
                                  const dist::Degrees &degrees) {
  LineCounter counter(degrees);
  for (const Execution &execution : functions) {
    FunctionOpInterface function = execution.function;
    counter.count(function.getFunctionBody(), static_cast<double>(execution.times));
  }
  return counter.take();
}

} // namespace titan::plan
