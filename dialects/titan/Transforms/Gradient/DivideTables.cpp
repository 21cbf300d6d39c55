// The pass --titan-divide-tables: divides tables of grouped contractions into the shards of the
// ranks.

#include "dialects/dist/IR/DistOps.h"
#include "dialects/titan/IR/OpTraits.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/TensorBuilder.h"
#include "dialects/titan/Transforms/Gradient/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace titan::ir {
#define GEN_PASS_DEF_TITANDIVIDETABLES
#include "dialects/titan/Transforms/Gradient/Passes.h.inc"
} // namespace titan::ir

using namespace mlir;
using namespace titan;
using namespace titan::ir;

namespace {

/// How the axis rules divide tables.
class TableDivision {
public:
  explicit TableDivision(ModuleOp module) : mesh(dist::MeshOp::lookup(module)) {
    for (auto rules : module.getOps<dist::AxisRulesOp>())
      axisRules[rules.getAxis()] = rules;
  }

  /// The number of shards of dimension `along`: the product of the degrees of the axes that shard
  /// it. An axis shards the first dimension of its rules that `table` or its rows have; rows have
  /// the dimensions of the indices. Degrees `auto`, which the launch chooses, do not count.
  int64_t countShards(GroupedContractOp op) {
    NamedTensorType table = getTensorType(op.getRhs());
    StringAttr along = op.getAlongAttr();
    int64_t size = table.getDims()[table.findDimIndex(along)].getSize(), numShards = 1;
    if (!mesh)
      return 1;
    for (auto axis : mesh.getAxes().getAsRange<dist::MeshAxisAttr>())
      if (axis.getDegree() > 1 && size % (numShards * axis.getDegree()) == 0 &&
          findDim(axis.getName(), table, getTensorType(op.getIndices())) == along)
        numShards *= axis.getDegree();
    return numShards;
  }

private:
  /// The dimension of `type` with this name or origin; null for none.
  static StringAttr findDim(NamedTensorType type, StringAttr name) {
    for (DimAttr dim : type.getDims())
      if (dim.getName() == name || (dim.getOrigin() == name && !type.hasDim(name)))
        return dim.getName();
    return {};
  }

  /// The dimension of `table` that the axis shards; null if it shards none, or the rows.
  StringAttr findDim(StringAttr axis, NamedTensorType table, NamedTensorType rows) {
    dist::AxisRulesOp rules = axisRules.lookup(axis.getValue());
    if (!rules)
      return {};
    for (auto name : rules.getShards().getAsRange<StringAttr>()) {
      if (StringAttr dim = findDim(table, name))
        return dim;
      if (findDim(rows, name))
        return {};
    }
    return {};
  }

  dist::MeshOp mesh;
  llvm::StringMap<dist::AxisRulesOp> axisRules;
};

/// Grouped contractions over the same indices, and the elementwise operations between them. The
/// first contractions read rows that do not depend on an element of the table; the last ones read
/// rows that the first ones and the elementwise operations computed, or sum over the indices.
/// Vectors that the indices select for results of first contractions, such as biases, are rows,
/// too.
class RowsOfElements {
public:
  RowsOfElements(GroupedContractOp first, TableDivision &division)
      : indices(first.getIndices()), along(getAlongDim(first)),
        numShards(division.countShards(first)) {
    if (numShards == 1)
      return;
    for (Operation *user : indices.getUsers())
      if (auto grouped = dyn_cast<GroupedContractOp>(user);
          grouped && isOfTable(grouped, division) && grouped->getBlock() == first->getBlock())
        all.push_back(grouped);
    for (Operation *user : indices.getUsers())
      if (auto gather = dyn_cast<GatherOp>(user); gather && isOfContractions(gather))
        gathers.insert(gather);
  }

  /// Rewrites the operations, unless another operation reads a row. True if it did.
  bool divide() {
    if (numShards == 1 || !collect())
      return false;
    createDims();
    for (Operation *op : ops)
      if (auto grouped = dyn_cast<GroupedContractOp>(op))
        divideTable(grouped);
      else if (auto gather = dyn_cast<GatherOp>(op))
        divideTable(gather);
      else
        addShard(op);
    for (Operation *op : replaced)
      op->erase();
    return true;
  }

private:
  static DimAttr getAlongDim(GroupedContractOp op) {
    NamedTensorType table = getTensorType(op.getRhs());
    return table.getDims()[table.findDimIndex(op.getAlongAttr())];
  }

  bool isOfTable(GroupedContractOp op, TableDivision &division) {
    return op.getIndices() == indices && op.getTable() == op.getRhs() && getAlongDim(op) == along &&
           !op.getInto() && division.countShards(op) == numShards;
  }

  /// Whether the vectors of the gather are only combined with results of the contractions.
  bool isOfContractions(GatherOp gather) {
    NamedTensorType table = gather.getInput().getType();
    const int64_t at = table.findDimIndex(gather.getAlongAttr());
    auto isProduct = [&](Value value) {
      auto grouped = value.getDefiningOp<GroupedContractOp>();
      return grouped && llvm::is_contained(all, grouped);
    };
    return gather.getIndices() == indices && table.getDims()[at] == along &&
           llvm::all_of(gather->getUsers(), [&](Operation *user) {
             return user->hasTrait<Elementwise>() && user->getBlock() == all.front()->getBlock() &&
                    llvm::any_of(user->getOperands(), isProduct);
           });
  }

  /// Whether the results, which are sums over the shards, are no rows of elements.
  bool isLast(GroupedContractOp op) { return rows.contains(op.getLhs()) || op.sumsIndices(); }

  /// Finds the rows and, in their order, all operations. A last contraction must read every row.
  bool collect() {
    for (Operation &op : *all.front()->getBlock()) {
      auto grouped = dyn_cast<GroupedContractOp>(op);
      bool isGrouped = grouped && llvm::is_contained(all, grouped);
      bool reads = llvm::any_of(op.getOperands(), [&](Value v) { return rows.contains(v); });
      if (isGrouped) {
        ops.push_back(&op);
        if (isLast(grouped))
          ++numLast;
        else
          rows.insert(grouped.getResult());
      } else if (gathers.contains(&op)) {
        ops.push_back(&op);
        rows.insert(op.getResult(0));
      } else if (reads) {
        if (!op.hasTrait<Elementwise>() && !isa<ShardingConstraintOp>(op))
          return false;
        ops.push_back(&op);
        rows.insert(op.result_begin(), op.result_end());
      }
    }
    return numLast > 0 && llvm::all_of(rows, [&](Value row) {
             return !row.use_empty() && llvm::all_of(row.getUsers(), [&](Operation *user) {
               return user->getBlock() == all.front()->getBlock();
             });
           });
  }

  void createDims() {
    MLIRContext *context = indices.getContext();
    auto getName = [&](const char *suffix) {
      return StringAttr::get(context, along.getName().getValue() + suffix);
    };
    StringAttr origin = along.getOrigin() ? along.getOrigin() : along.getName();
    shard = DimAttr::get(context, getName(".shard"), numShards, origin);
    local = DimAttr::get(context, getName(".local"), along.getSize() / numShards);
  }

  NamedTensorType withShard(NamedTensorType type) {
    SmallVector<DimAttr> dims{shard};
    llvm::append_range(dims, type.getDims());
    return NamedTensorType::get(type.getElementType(), dims);
  }

  void addShard(Operation *op) {
    for (Value result : op->getResults())
      result.setType(withShard(getTensorType(result)));
  }

  /// The indices into each shard: those of other shards are out of range.
  Value getLocalIndices(TensorBuilder &builder) {
    if (localIndices)
      return localIndices;
    Type integer = getTensorType(indices).getElementType();
    Value numbers = builder.create<IotaOp>(NamedTensorType::get(integer, shard));
    Value starts = builder.scale(numbers, static_cast<double>(local.getSize()));
    localIndices = builder.sub(indices, starts);
    return localIndices;
  }

  Value splitTable(Value table, TensorBuilder &builder) {
    SmallVector<DimAttr> dims;
    for (DimAttr dim : getTensorType(table).getDims())
      if (dim == along)
        dims.append({shard, local});
      else
        dims.push_back(dim);
    return builder.create<SplitOp>(
        NamedTensorType::get(getTensorType(table).getElementType(), dims), table, along.getName());
  }

  /// The same contraction with each shard of the table; the last ones sum over the shards.
  void divideTable(GroupedContractOp op) {
    OpBuilder opBuilder(op);
    TensorBuilder builder(opBuilder, op.getLoc());
    NamedTensorType result = op.getResult().getType();
    Value table = splitTable(op.getRhs(), builder);
    auto divided = builder.create<GroupedContractOp>(op.sumsIndices() ? result : withShard(result),
                                                     op.getLhs(), table, getLocalIndices(builder),
                                                     local.getName());
    divided->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    Value value = divided;
    if (!isLast(op))
      rows.insert(value);
    else if (!op.sumsIndices())
      value = builder.create<ReduceOp>(result, dist::ReductionKind::Sum, divided);
    op.getResult().replaceAllUsesWith(value);
    replaced.push_back(op);
  }

  /// The vectors of each shard; 0 for indices into other shards, whose rows nothing reads.
  void divideTable(GatherOp op) {
    OpBuilder opBuilder(op);
    TensorBuilder builder(opBuilder, op.getLoc());
    Value table = splitTable(op.getInput(), builder);
    Value vectors = builder.create<GatherOp>(withShard(op.getResult().getType()), table,
                                             getLocalIndices(builder), local.getName());
    rows.insert(vectors);
    op.getResult().replaceAllUsesWith(vectors);
    replaced.push_back(op);
  }

  Value indices, localIndices; ///< into the table; into each shard
  DimAttr along, shard, local; ///< of the table; the shards; the elements of a shard
  int64_t numShards;
  unsigned numLast = 0;                      ///< last contractions
  SmallVector<GroupedContractOp> all;        ///< contractions over the indices
  llvm::SmallPtrSet<Operation *, 4> gathers; ///< of vectors for their results
  llvm::SetVector<Value> rows;            ///< computed by the first contractions, or from such rows
  SmallVector<Operation *> ops, replaced; ///< to rewrite, in order; to erase afterwards
};

struct DivideTables : titan::ir::impl::TitanDivideTablesBase<DivideTables> {
  void runOnOperation() override {
    TableDivision division(getOperation()->getParentOfType<ModuleOp>());
    // The first contraction over each tensor of indices: its division erases the others over the
    // same indices.
    llvm::MapVector<Value, GroupedContractOp> firsts;
    getOperation().walk([&](GroupedContractOp op) {
      if (op.getTable() == op.getRhs())
        firsts.try_emplace(op.getIndices(), op);
    });
    for (auto [indices, first] : firsts)
      if (RowsOfElements(first, division).divide())
        TITAN_COUNT(dividedTables, 1);
  }
};

} // namespace
