// Contractions as matrix products.
//
// Axes of both operands and the result are axes of the batch, those of one operand are rows or
// columns, and the others are summed. MatMul has one axis each of rows, columns and sums, so
// several are merged. Where only one operand has axes of the batch or several rows, MatMul
// broadcasts the other.

#include "dialects/titan/Onnx/Translation.h"

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

static bool contains(ArrayRef<Axis> axes, const Axis &axis) {
  return llvm::any_of(axes, [&](const Axis &other) { return other.name == axis.name; });
}

/// The axes of `from` that are in `in`, or not.
static SmallVector<Axis> pick(ArrayRef<Axis> from, ArrayRef<Axis> in, bool areIn) {
  return llvm::to_vector(
      llvm::make_filter_range(from, [&](const Axis &axis) { return contains(in, axis) == areIn; }));
}

static bool areKnown(ArrayRef<Axis> axes) {
  return llvm::all_of(axes, [](const Axis &axis) { return axis.extent.isKnown(); });
}

static SmallVector<Axis> concat(ArrayRef<SmallVector<Axis>> groups) {
  SmallVector<Axis> all;
  for (const SmallVector<Axis> &group : groups)
    all.append(group);
  return all;
}

Axis Translation::merge(ArrayRef<Axis> axes) {
  if (axes.size() == 1)
    return axes.front();
  Axis merged{{}, {1, {}}};
  for (const Axis &axis : axes) {
    Extent product = axis.extent.isKnown() ? merged.extent : axis.extent;
    const int64_t factor = axis.extent.isKnown() ? axis.extent.constant : merged.extent.constant;
    product.constant *= factor;
    for (int64_t &count : product.counts)
      count *= factor;
    merged.extent = product;
  }
  return merged;
}

/// The operand with the axes of `groups` in order, those of each group merged into one.
Tensor Translation::mergeAxes(const Tensor &operand, ArrayRef<SmallVector<Axis>> groups) {
  const Tensor ordered = transpose(operand, concat(groups));
  SmallVector<Axis> merged;
  for (const SmallVector<Axis> &group : groups)
    merged.push_back(merge(group));
  const bool isSame = llvm::all_of(groups, [](const auto &group) { return group.size() == 1; });
  return isSame ? ordered : reshape(ordered, merged);
}

/// A group for each axis.
static SmallVector<SmallVector<Axis>> separate(ArrayRef<Axis> axes) {
  return llvm::map_to_vector(axes, [](const Axis &axis) { return SmallVector<Axis>{axis}; });
}

/// `lhs` has all axes of the batch that `rhs` has.
Tensor Translation::multiplyMatrices(const Tensor &lhs, const Tensor &rhs, ArrayRef<Axis> axes) {
  const SmallVector<Axis> batch = pick(pick(lhs.axes, rhs.axes, true), axes, true);
  const SmallVector<Axis> sums = pick(lhs.axes, axes, false);
  const SmallVector<Axis> columns = pick(rhs.axes, lhs.axes, false);
  const SmallVector<Axis> rows = pick(lhs.axes, rhs.axes, false);
  // Of several axes of rows, one is that of the matrix: positions if there are any. For the others,
  // MatMul repeats the matrix of rhs. If rhs is one matrix for all, runtimes make all rows one
  // axis.
  const bool isOneMatrix = batch.empty();
  SmallVector<SmallVector<Axis>> left = separate(batch), right = separate(batch);
  SmallVector<Axis> repeated = rows, last;
  if (!rows.empty()) {
    auto *chosen = llvm::find_if(
        repeated, [&](const Axis &axis) { return !isOneMatrix && !axis.extent.isKnown(); });
    chosen = chosen == repeated.end() ? chosen - 1 : chosen;
    last.push_back(*chosen);
    repeated.erase(chosen);
  }
  left.append(separate(repeated));
  left.append({last, sums});
  if (!isOneMatrix)
    right.append(repeated.size(), {});
  right.append({sums, columns});
  const Tensor product =
      add("MatMul", {mergeAxes(lhs, left).name, mergeAxes(rhs, right).name}, {}, lhs.type);
  SmallVector<SmallVector<Axis>> results = separate(batch);
  results.append(separate(repeated));
  results.append({last, columns});
  SmallVector<Axis> merged;
  for (const SmallVector<Axis> &group : results)
    merged.push_back(merge(group));
  Tensor named{product.name, product.type, merged};
  if (last.size() != 1 || columns.size() != 1)
    named = reshape(named, concat(results));
  return transpose(named, axes);
}

Tensor Translation::contract(const Tensor &lhs, const Tensor &rhs, ArrayRef<Axis> axes) {
  if (pick(lhs.axes, axes, false).empty()) // nothing is summed
    return map("Mul", {lhs, rhs}, axes, lhs.type);
  // Columns are merged into one axis, so their sizes are known: those of weights are.
  const bool isLeft =
      areKnown(pick(rhs.axes, lhs.axes, false)) || !areKnown(pick(lhs.axes, rhs.axes, false));
  return isLeft ? multiplyMatrices(lhs, rhs, axes) : multiplyMatrices(rhs, lhs, axes);
}
