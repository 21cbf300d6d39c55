// Decomposes grouped contractions into a gather or a scatter, and a contraction.

#include "dialects/titan/Decomposition/Decomposition.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/TensorBuilder.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// `type` without the dimension `along`.
NamedTensorType dropDim(NamedTensorType type, StringAttr along) {
  SmallVector<DimAttr> dims;
  for (DimAttr dim : type.getDims())
    if (dim.getName() != along)
      dims.push_back(dim);
  return NamedTensorType::get(type.getElementType(), dims);
}

/// Products with the gathered elements of the table. Of elements that only table and indices
/// distinguish, `lhs` is multiplied with the sum.
Value contractGathered(GroupedContractOp op, TensorBuilder &math) {
  NamedTensorType table = op.getRhs().getType();
  NamedTensorType rows = joinTypes(dropDim(table, op.getAlongAttr()), op.getIndices().getType());
  Value gathered = math.create<GatherOp>(rows, op.getRhs(), op.getIndices(), op.getAlongAttr());
  SmallVector<DimAttr> dims;
  llvm::copy_if(rows.getDims(), std::back_inserter(dims), [&](DimAttr dim) {
    return op.getLhs().getType().hasDim(dim.getName()) ||
           op.getResult().getType().hasDim(dim.getName());
  });
  gathered = math.fitTo(gathered, NamedTensorType::get(rows.getElementType(), dims));
  return math.create<ContractOp>(op.getResult().getType(), op.getLhs(), gathered);
}

/// Products of rows, added at the indices.
Value scatterProducts(GroupedContractOp op, TensorBuilder &math) {
  NamedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  NamedTensorType products =
      joinTypes(lhs, rhs).withElementType(op.getResult().getType().getElementType());
  Value updates = math.create<ContractOp>(products, op.getLhs(), op.getRhs());
  return math.create<ScatterOp>(op.getResult().getType(), updates, op.getIndices(),
                                op.getAlongAttr());
}

struct GroupedContractDefinition
    : DecomposableOpInterface::ExternalModel<GroupedContractDefinition, GroupedContractOp> {
  SmallVector<Value> decompose(Operation *op, OpBuilder &builder) const {
    auto grouped = cast<GroupedContractOp>(op);
    TensorBuilder math(builder, op->getLoc());
    Value result = grouped.getTable() == grouped.getRhs() ? contractGathered(grouped, math)
                                                          : scatterProducts(grouped, math);
    return {grouped.getInto() ? math.add(grouped.getInto(), result) : result};
  }
};

} // namespace

void titan::ir::attachGroupedDecomposition(MLIRContext &context) {
  GroupedContractOp::attachInterface<GroupedContractDefinition>(context);
}
