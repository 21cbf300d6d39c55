// Chooses the operations of a block that are fused.

#include "dialects/titan/Transforms/Fusion/Groups.h"

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/RowSchedule.h"

using namespace mlir;
using namespace titan;
using namespace titan::ir;
using namespace titan::fusion;

/// Fewer rows are not worth dividing among threads.
static constexpr int64_t kMinRows = 16;
/// Shorter inner loops waste vector lanes.
static constexpr int64_t kMinInnerSize = 64;

int64_t fusion::getRowBufferBytes(Type element) {
  return element.isBF16() ? 4 : (element.getIntOrFloatBitWidth() + 7) / 8;
}

SmallVector<Block *> fusion::getBodies(func::FuncOp function) {
  if (function.isDeclaration())
    return {};
  SmallVector<Block *> blocks{&function.getBody().front()};
  function.walk([&](RepeatOp repeat) {
    for (Region &body : repeat.getBodies())
      blocks.push_back(&body.front());
  });
  return blocks;
}

bool fusion::isBarrier(Operation *op) {
  return !isRowFusable(op) && !op->hasTrait<View>();
}

Grouping::Grouping(Block &block) : mesh(dist::MeshOp::lookup(block.getParentOp())) {
  unsigned numBarriers = 0;
  for (Operation &op : block) {
    if (isNullary(&op))
      continue; // every loop evaluates it
    indexOf[&op] = ops.size();
    numBarriers += isBarrier(&op);
    stretchOf.push_back(numBarriers);
    groupOf.push_back(ops.size());
    members.push_back({static_cast<unsigned>(ops.size())});
    ops.push_back(&op);
  }
  users.resize(ops.size());
  for (auto [i, op] : llvm::enumerate(ops))
    for (Value result : op->getResults())
      for (Operation *user : result.getUsers())
        users[i].push_back(indexOf[block.findAncestorOpInBlock(*user)]);
  // Messages keep their order, as if each used the one before.
  std::optional<unsigned> last;
  for (auto [i, op] : llvm::enumerate(ops))
    if (dist::isMessage(op)) {
      if (last)
        users[*last].push_back(i);
      last = i;
    }
}

bool Grouping::isCandidate(Operation *op) {
  if (op->getNumResults() != 1 || isNullary(op) || isa<ApplyOp>(op) || !isRowFusable(op))
    return false;
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (cast<NamedTensorType>(type).getShardingOrReplicated().isFlat())
        return false;
  return getTensorType(op->getResult(0)).getRank() > 0;
}

/// Rows are leading dimensions, so that the elements of a row are contiguous. The result must have
/// them, and the operation must not index along them.
SmallVector<StringAttr> Grouping::getPossibleRows(Operation *op) {
  SmallVector<StringAttr> rows;
  auto scatter = dyn_cast<ScatterOp>(op);
  for (DimAttr dim : getTensorType(getIteratedTensor(op)).getDims()) {
    if (!getTensorType(op->getResult(0)).hasDim(dim.getName()) ||
        (scatter && dim.getName() == scatter.getAlongAttr()))
      break;
    rows.push_back(dim.getName());
  }
  return rows;
}

bool Grouping::agreeOnSizes(ArrayRef<Operation *> members, ArrayRef<StringAttr> rows) {
  DenseMap<StringAttr, std::pair<int64_t, ArrayAttr>> seen;
  for (Operation *op : members)
    for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()),
                                           SmallVector<Value>(op->getResults())))
      for (auto [dim, axes] :
           llvm::zip_equal(getTensorType(value).getDims(),
                           getTensorType(value).getShardingOrReplicated().getDimAxes())) {
        auto here = std::pair(dim.getSize(), axes);
        if (seen.try_emplace(dim.getName(), here).first->second != here)
          return false;
      }
  return true;
}

/// Elements of a row of `type` on one rank; nothing if an axis of degree `auto` shards the row.
std::optional<int64_t> Grouping::getInnerSize(NamedTensorType type, ArrayRef<StringAttr> rows) {
  int64_t inner = 1;
  for (auto [dim, axes] :
       llvm::zip_equal(type.getDims(), type.getShardingOrReplicated().getDimAxes())) {
    if (llvm::is_contained(rows, dim.getName()))
      continue;
    inner *= dim.getSize();
    for (auto axis : axes.getAsRange<StringAttr>()) {
      if (mesh && mesh.getDegree(axis) == 0)
        return std::nullopt;
      inner /= mesh ? mesh.getDegree(axis) : 1;
    }
  }
  return inner;
}

/// A value that one loop of the row computes and a later loop reads needs a row buffer, unless it
/// is stored to memory.
bool Grouping::fitsRow(ArrayRef<Operation *> members, ArrayRef<StringAttr> rows) {
  SmallVector<std::string> names;
  for (StringAttr row : rows)
    names.push_back(row.str());
  RowSchedule schedule = scheduleRows(members, names);
  int64_t rowBufferBytes = 0;
  for (Operation *op : members) {
    std::optional<int64_t> inner = getInnerSize(getTensorType(getIteratedTensor(op)), rows);
    if (!inner)
      return false; // row buffers need a static size
    bool isStored = false, isUsedLater = false;
    for (Operation *user : op->getUsers()) {
      auto it = schedule.innerOf.find(user);
      isStored |= it == schedule.innerOf.end();
      isUsedLater |= it != schedule.innerOf.end() && it->second > schedule.innerOf[op];
    }
    NamedTensorType type = getTensorType(op->getResult(0));
    // Sums in bf16 have a float row buffer beside their result.
    bool isWideSum = isa<ReduceOp>(op) && type.getElementType().isBF16();
    if (isWideSum || (isUsedLater && !isStored))
      rowBufferBytes += *getInnerSize(type, rows) * getRowBufferBytes(type.getElementType());
  }
  return rowBufferBytes <= kMaxRowBufferBytes;
}

std::optional<SmallVector<StringAttr>> Grouping::chooseRows(ArrayRef<Operation *> members) {
  SmallVector<StringAttr> rows = getPossibleRows(members.front());
  for (Operation *op : members.drop_front()) {
    SmallVector<StringAttr> possible = getPossibleRows(op);
    size_t common = 0;
    while (common < rows.size() && common < possible.size() && rows[common] == possible[common])
      ++common;
    rows.truncate(common);
  }
  // The loops within a row should be worth vectorising.
  auto getLongest = [&]() {
    int64_t longest = 1;
    for (Operation *op : members) {
      int64_t inner = 1;
      for (DimAttr dim : getTensorType(getIteratedTensor(op)).getDims())
        inner *= llvm::is_contained(rows, dim.getName()) ? 1 : dim.getSize();
      longest = std::max(longest, inner);
    }
    return longest;
  };
  while (!rows.empty() && getLongest() < kMinInnerSize)
    rows.pop_back();
  int64_t count = 1;
  for (DimAttr dim : getTensorType(members.front()->getResult(0)).getDims())
    count *= llvm::is_contained(rows, dim.getName()) ? dim.getSize() : 1;
  if (count < kMinRows || !agreeOnSizes(members, rows) || !fitsRow(members, rows))
    return std::nullopt;
  for (Operation *op : members) {
    if (auto gather = dyn_cast<GatherOp>(op);
        gather && llvm::is_contained(rows, gather.getAlongAttr()))
      return std::nullopt;
    if (auto scatter = dyn_cast<ScatterOp>(op); scatter && !scatter.isOneHot())
      return std::nullopt;
  }
  return rows;
}

/// True if no path leaves the merged groups and returns to them.
bool Grouping::staysAcyclic(ArrayRef<unsigned> merged) {
  auto isMerged = [&](unsigned op) { return llvm::is_contained(merged, groupOf[op]); };
  SmallVector<bool> seen(ops.size(), false);
  SmallVector<unsigned> pending;
  auto visit = [&](unsigned op) {
    // A group depends on all operands of its members.
    for (unsigned other : members[groupOf[op]])
      if (!seen[other]) {
        seen[other] = true;
        pending.push_back(other);
      }
  };
  for (unsigned op = 0; op < ops.size(); ++op)
    if (isMerged(op))
      for (unsigned user : users[op])
        if (!isMerged(user))
          visit(user);
  while (!pending.empty())
    for (unsigned user : users[pending.pop_back_val()]) {
      if (isMerged(user))
        return false;
      if (!seen[user])
        visit(user);
    }
  return true;
}

bool Grouping::tryJoin(unsigned op, unsigned group) {
  unsigned joined = std::min(groupOf[op], group), other = std::max(groupOf[op], group);
  if (joined == other)
    return false;
  SmallVector<unsigned> all = members[joined];
  llvm::append_range(all, members[other]);
  llvm::sort(all);
  if (!chooseRows(getOps(all)) || !staysAcyclic({joined, other}))
    return false;
  for (unsigned member : members[other])
    groupOf[member] = joined;
  members[other].clear();
  members[joined] = all;
  return true;
}

SmallVector<Operation *> Grouping::getOps(ArrayRef<unsigned> indices) {
  return llvm::map_to_vector(indices, [&](unsigned i) { return ops[i]; });
}

/// Operations that compute an operand of `op`, latest first, then earlier readers of its operands.
SmallVector<unsigned> Grouping::getRelated(Operation *op) {
  SmallVector<unsigned> related;
  auto add = [&](Operation *other) {
    auto it = indexOf.find(other);
    if (it != indexOf.end() && it->second < indexOf[op] && isCandidate(other) &&
        !llvm::is_contained(related, it->second))
      related.push_back(it->second);
  };
  for (Value operand : op->getOperands())
    if (operand.getDefiningOp())
      add(operand.getDefiningOp());
  llvm::sort(related, std::greater<>());
  for (Value operand : op->getOperands())
    if (getTensorType(operand).getRank() > 1)
      for (Operation *reader : operand.getUsers())
        add(reader);
  return related;
}

void Grouping::joinRelated(bool acrossBarriers) {
  // A join may enable others: an operation without dimensions within a row can only join a group
  // whose operations have some.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [i, op] : llvm::enumerate(ops))
      if (isCandidate(op))
        for (unsigned other : getRelated(op))
          if (acrossBarriers || stretchOf[i] == stretchOf[other])
            changed |= tryJoin(i, groupOf[other]);
  }
}

SmallVector<Group> Grouping::run(SmallVectorImpl<Operation *> &order) {
  // Operations between the same products join first: a value that was recomputed for its reader
  // would else join the loop of the original.
  joinRelated(/*acrossBarriers=*/false);
  joinRelated(/*acrossBarriers=*/true);
  SmallVector<Group> groups;
  for (ArrayRef<unsigned> group : members)
    if (group.size() > 1)
      groups.push_back({getOps(group), *chooseRows(getOps(group))});
  order = sort();
  return groups;
}

/// True for inputs of a program: data, as opposed to parameters.
static bool isInput(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && function.getArgAttr(argument.getArgNumber(), attr::kInput);
}

unsigned Grouping::getPriority(unsigned group) {
  Operation *op = ops[group];
  if (!dist::isCollective(op))
    return group + 1;
  unsigned earliest = 0;
  for (Value operand : op->getOperands()) {
    if (isInput(operand))
      continue;
    auto producer = indexOf.find(operand.getDefiningOp());
    if (producer == indexOf.end() || dist::isCollective(producer->first))
      return group + 1;
    earliest = std::max(earliest, producer->second + 1);
  }
  for (unsigned i = group; i > earliest; --i)
    if (isa<RepeatOp>(ops[i - 1]))
      return i;
  return earliest;
}

/// Definitions before uses, groups contiguous, otherwise by priority.
SmallVector<Operation *> Grouping::sort() {
  SmallVector<unsigned> missing(ops.size(), 0); // per group: operands not yet ordered
  for (unsigned op = 0; op < ops.size(); ++op)
    for (unsigned user : users[op])
      if (groupOf[user] != groupOf[op])
        ++missing[groupOf[user]];
  std::set<std::pair<unsigned, unsigned>> ready; // priorities and groups
  auto addReady = [&](unsigned group) {
    if (missing[group] == 0 && !ops[group]->hasTrait<OpTrait::IsTerminator>())
      ready.insert({getPriority(group), group});
  };
  for (unsigned i = 0; i < ops.size(); ++i)
    if (groupOf[i] == i)
      addReady(i);
  SmallVector<Operation *> order;
  while (!ready.empty()) {
    unsigned group = ready.begin()->second;
    ready.erase(ready.begin());
    for (unsigned i : members[group]) {
      order.push_back(ops[i]);
      for (unsigned user : users[i])
        if (groupOf[user] != group) {
          --missing[groupOf[user]];
          addReady(groupOf[user]);
        }
    }
  }
  order.push_back(ops.back());
  return order;
}
