#include "compiler/pipelines/DimensionOrders.h"
#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Support/Programs.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <algorithm>
#include <map>

using namespace mlir;

namespace titan::pipelines {
namespace {

/// Collects which dimensions of one axis meet in an operation.
class Meetings {
public:
  Meetings(const dist::MeshView &mesh, size_t axis)
      : info(mesh.getAxes()[axis]), shards(mesh.getRules(axis).getShards()),
        pads(mesh.getRules(axis).getPads().value_or(ArrayAttr())) {}

  void addOperations(func::FuncOp program) {
    program.walk([&](Operation *op) {
      if (op->getNumRegions() > 0 || op->hasTrait<OpTrait::IsTerminator>())
        return; // operands that do not meet
      std::optional<size_t> first;
      for (Type type : llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                                llvm::to_vector(op->getResultTypes())))
        add(type, first);
    });
  }

  SmallVector<CompetingDims> getGroups() const {
    std::map<size_t, CompetingDims> groups;
    for (size_t at = 0; at < shards.size(); ++at)
      if (meeting.findValue(at) != meeting.end())
        groups[meeting.getLeaderValue(at)].push_back(at);
    SmallVector<CompetingDims> result;
    for (auto &[leader, group] : groups)
      if (group.size() > 1)
        result.push_back(std::move(group));
    return result;
  }

private:
  /// Adds the dimensions of a value, which meet `first`.
  void add(Type type, std::optional<size_t> &first) {
    auto tensor = dyn_cast<ir::NamedTensorType>(type);
    if (!tensor)
      return;
    for (ir::DimAttr dim : tensor.getDims())
      if (std::optional<size_t> at = findListed(dim)) {
        meeting.insert(*at);
        if (first)
          meeting.unionSets(*first, *at);
        first = at;
      }
  }

  /// The position of the dimension in `shards`, if the axis can shard the dimension.
  std::optional<size_t> findListed(ir::DimAttr dim) const {
    const size_t at = dist::getPreference(info, dim.getName().str(),
                                          dim.getOrigin() ? dim.getOrigin().str() : std::string());
    if (at >= shards.size() || dim.getSize() == 1)
      return std::nullopt;
    const bool isPadded = pads && llvm::is_contained(pads, shards[at]);
    return isPadded || dist::canSplit(dim.getSize(), 1, info) ? std::optional(at) : std::nullopt;
  }

  const dist::AxisInfo &info;
  ArrayAttr shards, pads; ///< `pads` may be null
  llvm::EquivalenceClasses<size_t> meeting;
};

} // namespace

SmallVector<CompetingDims> findCompetingDims(ModuleOp module, const dist::MeshView &mesh,
                                             size_t axis) {
  Meetings meetings(mesh, axis);
  for (func::FuncOp program : ir::getTrainPrograms(module))
    meetings.addOperations(program);
  return meetings.getGroups();
}

SmallVector<SmallVector<Attribute>> listOrders(ArrayRef<Attribute> shards,
                                               const CompetingDims &group) {
  SmallVector<SmallVector<Attribute>> orders;
  auto add = [&](ArrayRef<size_t> order) {
    SmallVector<Attribute> list(shards);
    for (auto [to, from] : llvm::zip_equal(group, order))
      list[to] = shards[from];
    orders.push_back(std::move(list));
  };
  CompetingDims order = group;
  if (group.size() <= 4) {
    do
      add(order);
    while (std::next_permutation(order.begin(), order.end()));
    return orders;
  }
  for (size_t first = 0; first < group.size(); ++first) {
    order = group;
    std::rotate(order.begin(), order.begin() + first, order.begin() + first + 1);
    add(order);
  }
  return orders;
}

} // namespace titan::pipelines
