// The propagation graph of a function.

#include "dialects/dist/Transforms/Shard/PartitionGraph.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

LogicalResult PartitionGraph::addBlock(Block &block) {
  for (BlockArgument arg : block.getArguments()) {
    if (!isa<NamedTensorType>(arg.getType()))
      return block.getParentOp()->emitError("cannot be partitioned: argument ")
             << arg.getArgNumber() << " is not a tensor but " << arg.getType();
    (void)getTensor(arg);
  }
  for (Operation &op : block)
    if (failed(addOp(op)))
      return failure();
  return success();
}

void PartitionGraph::setShardings() {
  for (auto [value, tensor] : llvm::zip_equal(values, graph.tensors))
    if (!tensor.fixed) {
      auto type = cast<NamedTensorType>(value.getType());
      value.setType(
          type.withSharding(mesh.getSharding(type.getRank(), {tensor.dimOfAxis, tensor.flatFrom})));
    }
}

unsigned PartitionGraph::getTensor(Value value) {
  auto [it, isNew] = indexOf.try_emplace(value, values.size());
  if (!isNew)
    return it->second;
  auto type = cast<NamedTensorType>(value.getType());
  FactorTensor tensor;
  for (ir::DimAttr dim : type.getDims())
    tensor.dims.push_back(
        {dim.getName().str(), dim.getOrigin() ? dim.getOrigin().str() : "", dim.getSize()});
  tensor.fixed = type.getSharding() != ShardingAttr();
  ShardingByAxis byAxis = tensor.fixed ? mesh.getByAxis(type.getSharding()) : mesh.getReplicated();
  std::replace(byAxis.dimOfAxis.begin(), byAxis.dimOfAxis.end(), int(kPartial), int(kReplicated));
  tensor.dimOfAxis = byAxis.dimOfAxis;
  tensor.flatFrom = byAxis.flatFrom;
  graph.tensors.push_back(std::move(tensor));
  values.push_back(value);
  return it->second;
}

void PartitionGraph::addNode(ShardingRule rule, ValueRange operands, ValueRange results,
                             Operation *op) {
  FactorNode node{std::move(rule), {}, {}};
  for (Value operand : operands)
    node.operands.push_back(getTensor(operand));
  for (Value result : results)
    node.results.push_back(getTensor(result));
  graph.nodes.push_back(std::move(node));
  operations.push_back(op);
}

LogicalResult PartitionGraph::addOp(Operation &op) {
  if (auto repeat = dyn_cast<ir::RepeatOp>(op))
    return addRepeat(repeat);
  if (auto rule = dyn_cast<ir::ShardingRuleOpInterface>(op))
    addNode(rule.getShardingRule(), op.getOperands(), op.getResults(), &op);
  else if (isa<DistDialect>(op.getDialect()))
    (void)llvm::map_to_vector(op.getResults(), [&](Value value) { return getTensor(value); });
  else if (!op.hasTrait<OpTrait::IsTerminator>())
    return op.emitOpError("cannot be partitioned: it has no sharding rule");
  return success();
}

/// Relates a stack and its slot: all dimensions but the leading one, which is not sharded.
static ShardingRule getSliceRule(NamedTensorType stack, bool stackFirst) {
  ShardingRule rule;
  for (auto [i, dim] : llvm::enumerate(stack.getDims())) {
    int at = static_cast<int>(i), below = at - 1;
    Factor factor{dim.getName().str(),
                  "",
                  dim.getSize(),
                  i == 0 ? FactorKind::Replicated : FactorKind::Parallel,
                  {stackFirst ? at : below},
                  {stackFirst ? below : at}};
    rule.factors.push_back(std::move(factor));
  }
  return rule;
}

LogicalResult PartitionGraph::addRepeat(ir::RepeatOp repeat) {
  for (const ir::RepeatVariant &body : repeat.getVariants()) {
    for (auto [stack, slice, number] : body.getScannedInputs())
      addNode(getSliceRule(cast<NamedTensorType>(stack.getType()), true), stack, Value(slice),
              repeat);
    if (failed(addBlock(body.getBlock())))
      return failure();
    for (auto [value, stack, operand] : body.getStackedOutputs())
      addNode(getSliceRule(cast<NamedTensorType>(stack.getType()), false), value, Value(stack),
              repeat);
  }
  for (Value carried : repeat.getIterResults())
    (void)getTensor(carried);
  return success();
}

void dist::copyTables(func::FuncOp function) {
  SmallVector<Operation *> tables;
  function.walk([&](Operation *op) {
    bool isTable = op->getNumOperands() == 0 && op->getNumRegions() == 0 &&
                   op->getNumResults() == 1 && isa<ir::ShardingRuleOpInterface>(op) && isPure(op);
    if (isTable && cast<NamedTensorType>(op->getResult(0).getType()).getRank() > 0)
      tables.push_back(op);
  });
  for (Operation *table : tables) {
    OpBuilder builder(table);
    auto uses = llvm::to_vector(llvm::make_pointer_range(table->getResult(0).getUses()));
    for (OpOperand *use : llvm::drop_begin(uses, uses.empty() ? 0 : 1))
      use->set(builder.clone(*table)->getResult(0));
  }
}
