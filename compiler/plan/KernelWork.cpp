#include "compiler/plan/KernelWork.h"

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "dialects/titan/Support/Views.h"
#include "dialects/titan/Transforms/Memory/MemoryPlan.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace titan::plan {
namespace {

class WorkCounter {
public:
  WorkCounter(Operation *op, const dist::Degrees &degrees) : op(op), degrees(degrees) {}

  KernelWork count() {
    work.type = printElementType(findOperandType());
    if (auto fused = dyn_cast<ir::FusedOp>(op)) {
      countFused(fused);
      return std::move(work);
    }
    countArithmetic(op);
    for (Value operand : op->getOperands())
      work.bytesRead += getBytesRead(op, operand);
    for (Value result : op->getResults())
      work.bytesWritten += getBytes(result);
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](ir::ContractOp contract) { setProduct(contract); })
        .Case([&](ir::GroupedContractOp grouped) { setProduct(grouped); })
        .Case([&](ir::AttentionOp attention) {
          work.kind = KernelKind::Attention;
          setAttention(attention);
        })
        .Case([&](ir::AttentionGradOp attention) {
          work.kind = KernelKind::AttentionGradient;
          setAttention(attention);
        });
    if (work.kind != KernelKind::Loop)
      work.flops = std::exchange(work.arithmetic, 0);
    return std::move(work);
  }

private:
  /// The first operand of floating-point type, or else the first result.
  Type findOperandType() {
    for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                                           llvm::to_vector_of<Value>(op->getResults())))
      if (auto type = dyn_cast<ir::NamedTensorType>(value.getType());
          type && isa<FloatType>(type.getElementType()))
        return type.getElementType();
    return {};
  }

  static std::string printElementType(Type type) {
    std::string text;
    if (type)
      llvm::raw_string_ostream(text) << type;
    return text;
  }

  void countArithmetic(Operation *step) {
    auto cost = dyn_cast<ir::CostOpInterface>(step);
    if (!cost)
      return;
    const double special = cost.getSpecialFlops(degrees);
    work.special += special;
    work.arithmetic += cost.getFlops(degrees) - special;
  }

  /// Operands of the region are read once, however many operations use them.
  void countFused(ir::FusedOp fused) {
    llvm::SmallSetVector<Value, 8> read;
    for (Operation &step : fused.getBody().getOps()) {
      countArithmetic(&step);
      for (Value operand : step.getOperands())
        if (operand.getParentRegion() != &fused.getBody() && read.insert(operand))
          work.bytesRead += getBytesRead(&step, operand);
    }
    for (Value result : fused.getYield().getOperands())
      work.bytesWritten += getBytes(result);
  }

  /// A gather reads the rows that it selects, not the complete table.
  double getBytesRead(Operation *reader, Value operand) const {
    if (auto gather = dyn_cast<ir::GatherOp>(reader); gather && operand == gather->getOperand(0))
      return std::min(getBytes(operand), countBytes(gather.getResult()));
    return getBytes(operand);
  }

  /// 0 for values without memory.
  double getBytes(Value value) const { return memory::isInline(value) ? 0 : countBytes(value); }

  double countBytes(Value value) const {
    auto type = dyn_cast<ir::NamedTensorType>(value.getType());
    if (!type)
      return 0;
    const unsigned width = llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
    return static_cast<double>(dist::getLocalNumElements(type, degrees)) * width;
  }

  void setProduct(ir::ContractOp contract) {
    work.kind = KernelKind::Product;
    work.m = work.n = work.k = 1;
    ir::NamedTensorType lhs = contract.getLhs().getType(), rhs = contract.getRhs().getType(),
                        result = contract.getResult().getType();
    for (auto [dim, size] : llvm::zip(lhs.getDims(), dist::getLocalShape(lhs, degrees))) {
      const bool isShared = rhs.hasDim(dim.getName()), isInResult = result.hasDim(dim.getName());
      (isShared ? isInResult ? work.batch : work.k : work.m) *= static_cast<double>(size);
    }
    for (auto [dim, size] : llvm::zip(rhs.getDims(), dist::getLocalShape(rhs, degrees)))
      if (!lhs.hasDim(dim.getName()))
        work.n *= static_cast<double>(size);
  }

  /// One product per element of the table. The rows are divided among the elements, or, if the
  /// table is the result, summed over.
  void setProduct(ir::GroupedContractOp grouped) {
    work.kind = KernelKind::Product;
    work.batch = work.n = work.k = 1;
    auto table = cast<ir::NamedTensorType>(grouped.getTable().getType());
    ir::NamedTensorType rows = grouped.getLhs().getType();
    for (auto [dim, size] : llvm::zip(table.getDims(), dist::getLocalShape(table, degrees)))
      (dim.getName() == grouped.getAlongAttr() ? work.batch
       : rows.hasDim(dim.getName())            ? work.k
                                               : work.n) *= static_cast<double>(size);
    work.m = std::max(1.0, work.arithmetic / (2 * work.batch * work.n * work.k));
  }

  template <typename Op> void setAttention(Op attention) {
    ir::NamedTensorType query = attention.getQuery().getType(), key = attention.getKey().getType();
    const SmallVector<int64_t> queries = dist::getLocalShape(query, degrees);
    auto getSize = [](ir::NamedTensorType type, ArrayRef<int64_t> shape, StringAttr dim) {
      return static_cast<double>(shape[type.findDimIndex(dim)]);
    };
    work.m = getSize(query, queries, attention.getAlongAttr());
    work.k = getSize(query, queries, attention.getHeadAttr());
    work.n = getSize(key, dist::getLocalShape(key, degrees), attention.getAlongAttr());
    work.batch = static_cast<double>(dist::getLocalNumElements(query, degrees)) / (work.m * work.k);
  }

  Operation *op;
  const dist::Degrees &degrees;
  KernelWork work;
};

/// Whether the operation becomes a kernel.
bool hasKernel(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || ir::isView(op) || dist::isCollective(op) ||
      dist::isMessage(op) || isa<dist::WaitOp, dist::LayerOp, ir::RepeatOp>(op))
    return false;
  return op->getNumResults() == 0 ||
         !llvm::all_of(op->getResults(), [](Value result) { return memory::isInline(result); });
}

} // namespace

std::optional<KernelWork> countWork(Operation *op, const dist::Degrees &degrees) {
  if (!hasKernel(op))
    return std::nullopt;
  return WorkCounter(op, degrees).count();
}

} // namespace titan::plan
