// The pass --dist-order-dimensions: decides by bytes whether an axis shards tables of parameters or
// the rows that they are multiplied with.

#include "dialects/dist/IR/DimensionOrder.h"
#include "dialects/dist/Transforms/Shard/Passes.h"
#include "dialects/dist/Transforms/Shard/TableTraffic.h"
#include "dialects/titan/IR/TensorAttributes.h"
#include "dialects/titan/Support/PassReport.h"
#include "dialects/titan/Support/Programs.h"
#include "llvm/Support/FormatVariadic.h"

namespace titan::dist {
#define GEN_PASS_DEF_DISTORDERDIMENSIONS
#include "dialects/dist/Transforms/Shard/Passes.h.inc"
} // namespace titan::dist

using namespace mlir;
using namespace titan;
using namespace titan::dist;

/// "1.2 GB".
static std::string printBytes(double bytes) {
  for (auto [unit, size] : {std::pair("GB", 1e9), {"MB", 1e6}, {"kB", 1e3}})
    if (bytes >= size)
      return llvm::formatv("{0:F1} {1}", bytes / size, unit).str();
  return llvm::formatv("{0:F0} bytes", bytes).str();
}

/// The names in `order` without those at `moved`, which are at the first or behind the last of
/// `others` instead.
static SmallVector<Attribute> move(ArrayRef<Attribute> order, const std::set<size_t> &moved,
                                   const std::set<size_t> &others, bool toFront) {
  SmallVector<Attribute> names, result;
  for (size_t i : moved)
    names.push_back(order[i]);
  const size_t target = toFront ? *others.begin() : *others.rbegin();
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == target && toFront)
      llvm::append_range(result, names);
    if (!moved.count(i))
      result.push_back(order[i]);
    if (i == target && !toFront)
      llvm::append_range(result, names);
  }
  return result;
}

static std::string join(ArrayRef<Attribute> order, const std::set<size_t> &of) {
  std::string text;
  for (size_t i : of)
    text += (text.empty() ? "" : ", ") + cast<StringAttr>(order[i]).str();
  return text;
}

namespace {

struct OrderDimensions : dist::impl::DistOrderDimensionsBase<OrderDimensions> {
  using DistOrderDimensionsBase::DistOrderDimensionsBase;

  void runOnOperation() override {
    FailureOr<MeshView> mesh = MeshView::get(getOperation());
    if (failed(mesh))
      return signalPassFailure();
    for (size_t axis = 0; axis < mesh->getNumAxes(); ++axis)
      if (AxisRulesOp rules = mesh->getRules(axis); rules && mesh->getAxes()[axis].degree > 1)
        order(*mesh, axis, rules);
  }

private:
  void order(const MeshView &mesh, size_t axis, AxisRulesOp rules) {
    TableTraffic traffic(mesh, axis, recomputes ? 3 : 2);
    for (func::FuncOp program : ir::getTrainPrograms(getOperation()))
      traffic.add(program);
    if (traffic.getTables().empty() || traffic.getRows().empty())
      return;
    ArrayRef<Attribute> before = rules.getShards().getValue();
    const std::set<size_t> &tables = traffic.getTables(), &rows = traffic.getRows();
    const double moved = traffic.getMovedBytes(), gathered = traffic.getGatheredBytes();
    const bool movesRows = moved == gathered ? *tables.begin() < *rows.begin() : moved < gathered;
    rules->setAttr(kOrderAttr,
                   StringAttr::get(&getContext(),
                                   (movesRows ? join(before, tables) : join(before, rows)) +
                                       " first: moving rows sends about " + printBytes(moved) +
                                       " a step, gathering parameters " + printBytes(gathered)));
    if (moved == gathered)
      return;
    SmallVector<Attribute> after = move(before, tables, rows, movesRows);
    if (ArrayRef<Attribute>(after) == before)
      return;
    rules.setShardsAttr(ArrayAttr::get(&getContext(), after));
    TITAN_COUNT(orderedAxes, 1);
  }
};

} // namespace
