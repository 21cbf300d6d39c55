//===- Propagate.cpp - Shardings of what nobody declared ------------------===//

#include "dialects/dist/Transforms/Shard/MeshView.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/titan/Interfaces/TitanInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTPROPAGATE
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;
using ir::NamedTensorType;

namespace {

/// The graph of one function, and which value each tensor is.
class GraphBuilder {
public:
  explicit GraphBuilder(const MeshView &mesh) : mesh(mesh) { graph.axes = mesh.getAxes(); }

  LogicalResult addBlock(Block &block) {
    for (BlockArgument arg : block.getArguments()) {
      if (!isa<NamedTensorType>(arg.getType()))
        return block.getParentOp()->emitError("cannot be partitioned: argument ")
               << arg.getArgNumber() << " is no tensor but " << arg.getType();
      (void)getTensor(arg);
    }
    for (Operation &op : block)
      if (failed(addOp(op)))
        return failure();
    return success();
  }

  void run() {
    propagateFactors(graph);
    for (auto [value, tensor] : llvm::zip_equal(values, graph.tensors))
      if (!tensor.fixed) {
        auto type = cast<NamedTensorType>(value.getType());
        value.setType(
            type.withSharding(mesh.getSharding(type.getRank(), {tensor.places, tensor.flatFrom})));
      }
  }

private:
  unsigned getTensor(Value value) {
    auto [it, isNew] = indexOf.try_emplace(value, values.size());
    if (!isNew)
      return it->second;
    auto type = cast<NamedTensorType>(value.getType());
    FactorTensor tensor;
    for (ir::DimAttr dim : type.getDims())
      tensor.dims.push_back(
          {dim.getName().str(), dim.getOrigin() ? dim.getOrigin().str() : "", dim.getSize()});
    tensor.fixed = type.getSharding() != ShardingAttr();
    Places places = tensor.fixed ? mesh.getPlaces(type.getSharding()) : mesh.getNoPlaces();
    std::replace(places.axes.begin(), places.axes.end(), int(kPartial), int(kNowhere));
    tensor.places = places.axes;
    tensor.flatFrom = places.flatFrom;
    graph.tensors.push_back(std::move(tensor));
    values.push_back(value);
    return it->second;
  }

  void addNode(ShardingRule rule, ValueRange operands, ValueRange results) {
    FactorNode node{std::move(rule), {}, {}};
    for (Value operand : operands)
      node.operands.push_back(getTensor(operand));
    for (Value result : results)
      node.results.push_back(getTensor(result));
    graph.nodes.push_back(std::move(node));
  }

  LogicalResult addOp(Operation &op) {
    if (auto repeat = dyn_cast<ir::RepeatOp>(op))
      return addRepeat(repeat);
    if (auto rule = dyn_cast<ir::ShardingRuleOpInterface>(op))
      addNode(rule.getShardingRule(), op.getOperands(), op.getResults());
    else if (isa<DistDialect>(op.getDialect()))
      (void)llvm::map_to_vector(op.getResults(), [&](Value value) { return getTensor(value); });
    else if (!op.hasTrait<OpTrait::IsTerminator>())
      return op.emitOpError("cannot be partitioned: it has no sharding rule");
    return success();
  }

  LogicalResult addRepeat(ir::RepeatOp repeat) {
    for (const ir::RepeatVariant &body : repeat.getVariants()) {
      for (auto [stack, slice, number] : body.getSlices())
        addNode(getSliceRule(cast<NamedTensorType>(stack.getType()), true), stack, Value(slice));
      if (failed(addBlock(body.getBlock())))
        return failure();
      for (auto [value, stack, operand] : body.getStacks())
        addNode(getSliceRule(cast<NamedTensorType>(stack.getType()), false), value, Value(stack));
    }
    for (Value carried : repeat.getCarriedResults())
      (void)getTensor(carried);
    return success();
  }

  /// Ties a stack and its slice: every dimension but the first, which is not split.
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

  const MeshView &mesh;
  FactorGraph graph;
  SmallVector<Value> values;
  DenseMap<Value, unsigned> indexOf;
};

/// Gives every user of an index table its own copy; equal copies become one again after
/// partitioning.
void copyTables(func::FuncOp function) {
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

struct Propagate : titan::dist::impl::DistPropagateBase<Propagate> {
  void runOnOperation() override {
    auto propagate = [](func::FuncOp function, const MeshView &mesh) -> LogicalResult {
      copyTables(function);
      GraphBuilder builder(mesh);
      if (failed(builder.addBlock(function.getBody().front())))
        return failure();
      builder.run();
      return success();
    };
    if (failed(forEachFunction(getOperation(), propagate)))
      signalPassFailure();
  }
};

} // namespace
