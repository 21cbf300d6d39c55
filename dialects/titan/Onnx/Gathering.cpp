// Reading elements at computed indices.

#include "dialects/titan/Onnx/Translation.h"

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

/// The axes that `keeps` accepts.
static SmallVector<Axis> pick(ArrayRef<Axis> axes, function_ref<bool(StringAttr)> keeps) {
  return llvm::to_vector(
      llvm::make_filter_range(axes, [&](const Axis &axis) { return keeps(axis.name); }));
}

/// Without axes of both, the indices replace one axis. Else each element of the common axes has its
/// own table.
Tensor Translation::gather(const Tensor &table, const Tensor &indices, StringAttr along,
                           ArrayRef<Axis> axes) {
  const SmallVector<Axis> own =
      pick(indices.axes, [&](StringAttr name) { return !table.has(name); });
  SmallVector<Axis> order = pick(table.axes, [&](StringAttr name) { return indices.has(name); });
  const int64_t common = static_cast<int64_t>(order.size()), at = table.find(along);
  if (common == 0) {
    SmallVector<Axis> found(table.axes);
    found.erase(found.begin() + at);
    found.insert(found.begin() + at, own.begin(), own.end());
    return transpose(add("Gather", {table.name, indices.name}, found, table.type, {{"axis", at}}),
                     axes);
  }
  const SmallVector<Axis> rest =
      pick(table.axes, [&](StringAttr name) { return name != along && !indices.has(name); });
  SmallVector<Axis> found = order;
  found.append(own);
  const Tensor rows = transpose(indices, found);
  const std::string tuples = graph.add(
      "Unsqueeze", {rows.name, graph.addIntegers(static_cast<int64_t>(rows.axes.size()))});
  order.push_back(table.axes[at]);
  order.append(rest);
  found.append(rest);
  return transpose(add("GatherND", {transpose(table, order).name, tuples}, found, table.type,
                       {{"batch_dims", common}}),
                   axes);
}
