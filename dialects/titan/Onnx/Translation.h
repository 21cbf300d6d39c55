// The translation of a program of the model phase, operation by operation.
//
// Each value becomes a tensor of the graph whose axes are the value's dimensions, in the order of
// its type. ONNX matches axes by position, Titan dimensions by name: operands are transposed and
// get axes of size 1 where they lack a dimension. Repeats are unrolled, so a stacked value is a
// list of slots.
#pragma once

#include "dialects/titan/IR/Titan.h"
#include "dialects/titan/Onnx/Extent.h"
#include "dialects/titan/Onnx/GraphBuilder.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace titan::onnx {

struct Axis {
  mlir::StringAttr name;
  Extent extent;
};

/// A tensor of the graph with named axes.
struct Tensor {
  std::string name;
  ElementType type;
  llvm::SmallVector<Axis> axes;

  /// The index of the axis `name`, or -1.
  int64_t find(mlir::StringAttr axis) const;
  bool has(mlir::StringAttr axis) const { return find(axis) >= 0; }
};

/// A value with a slot per iteration of repeats. The slots are row-major in `sizes`.
struct Stacked {
  llvm::SmallVector<int64_t> sizes;
  std::vector<Tensor> slots;
};

class Translation {
public:
  /// `getExtent`: the size of a dimension.
  Translation(GraphBuilder &graph, std::function<Extent(ir::DimAttr)> getExtent)
      : graph(graph), getExtent(std::move(getExtent)) {}

  GraphBuilder &getGraph() { return graph; }

  // Values of the program.
  Tensor get(mlir::Value value);
  void set(mlir::Value value, Tensor tensor) { tensors[value] = std::move(tensor); }
  void set(mlir::Value value, Stacked stack) { stacks[value] = std::move(stack); }
  /// The slots of a value; a value that is not stacked has one.
  Stacked getSlots(mlir::Value value);
  /// Slot `index` of a stacked value becomes the value of `slot`.
  void setSlot(mlir::Value slot, mlir::Value stacked, int64_t index);
  /// Translates the operations of a block without its terminator. Reports those that have no
  /// translation.
  mlir::LogicalResult translate(mlir::Block &block);
  /// Gives `symbol` the size of an axis of an input.
  void setSource(Symbol symbol, llvm::StringRef input, int64_t axis);
  /// Values that are caches: `titan.insert_slice` appends to them.
  void setCache(mlir::Value value) { caches.insert(value); }
  bool isCache(mlir::Value value) const { return caches.contains(value); }

  // Types.
  ElementType getType(ir::NamedTensorType type) const;
  llvm::SmallVector<Axis> getAxes(ir::NamedTensorType type) const;
  Axis getAxis(ir::DimAttr dim) const { return {dim.getName(), getExtent(dim)}; }

  // Parts of graphs. Names of axes in one tensor are unique.
  /// The tensor `axes` that operator `op` computes of some inputs.
  Tensor add(llvm::StringRef op, llvm::ArrayRef<std::string> inputs, llvm::ArrayRef<Axis> axes,
             ElementType type, std::vector<NodeAttribute> attributes = {});
  /// An elementwise operator, with operands broadcast to `axes`.
  Tensor map(llvm::StringRef op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<Axis> axes,
             ElementType type, std::vector<NodeAttribute> attributes = {});
  /// The operand with its axes in the order of `axes`, and axes of size 1 for missing ones.
  std::string align(const Tensor &operand, llvm::ArrayRef<Axis> axes);
  /// The axes of both, those of `lhs` first.
  static llvm::SmallVector<Axis> join(llvm::ArrayRef<Axis> lhs, llvm::ArrayRef<Axis> rhs);
  /// One axis with the elements of several, of which at most one has a size that is not known.
  static Axis merge(llvm::ArrayRef<Axis> axes);
  /// The same axes in another order.
  Tensor transpose(const Tensor &operand, llvm::ArrayRef<Axis> axes);
  /// The same elements in the same order, with other axes.
  Tensor reshape(const Tensor &operand, llvm::ArrayRef<Axis> axes);
  Tensor expand(const Tensor &operand, llvm::ArrayRef<Axis> axes);
  Tensor rename(Tensor operand, mlir::StringAttr from, mlir::StringAttr to) const;
  Tensor cast(const Tensor &operand, ElementType type);
  /// The elements `first`, `first + step`, ... along axis `name`, which becomes `axis`.
  Tensor slice(const Tensor &operand, mlir::StringAttr name, int64_t first, Axis axis,
               int64_t step = 1);
  /// The elements of `table` along `along` at `indices`. Axes that both have are matched.
  Tensor gather(const Tensor &table, const Tensor &indices, mlir::StringAttr along,
                llvm::ArrayRef<Axis> axes);
  /// Reduces over the axes that `axes` lacks.
  Tensor reduce(llvm::StringRef op, const Tensor &operand, llvm::ArrayRef<Axis> axes);
  /// The sum of products over the axes that `axes` lacks.
  Tensor contract(const Tensor &lhs, const Tensor &rhs, llvm::ArrayRef<Axis> axes);
  Tensor concatenate(llvm::ArrayRef<Tensor> operands, Axis axis);
  /// The slots of a stack along a new first axis.
  Tensor stack(llvm::ArrayRef<Tensor> slots, Axis axis);
  Tensor number(ElementType type, double value);
  /// 0, 1, ... along an axis.
  Tensor iota(Axis axis);
  /// A size as an integer of rank 0.
  Tensor size(const Extent &extent);
  /// Several as an integer tensor of rank 1.
  std::string sizes(llvm::ArrayRef<Extent> extents);
  /// Elements of `whenTrue` where `condition`, else of `whenFalse`; they are numbers.
  Tensor select(const Tensor &condition, const Tensor &whenTrue, const Tensor &whenFalse,
                llvm::ArrayRef<Axis> axes);

private:
  std::string addSize(const Extent &extent);
  Tensor multiplyMatrices(const Tensor &lhs, const Tensor &rhs, llvm::ArrayRef<Axis> axes);
  Tensor mergeAxes(const Tensor &operand, llvm::ArrayRef<llvm::SmallVector<Axis>> groups);

  GraphBuilder &graph;
  std::function<Extent(ir::DimAttr)> getExtent;
  llvm::DenseMap<mlir::Value, Tensor> tensors;
  llvm::DenseMap<mlir::Value, Stacked> stacks;
  llvm::DenseSet<mlir::Value> caches;
  std::array<std::string, numSymbols> sources; ///< for each symbol, a tensor [1] with its size
};

} // namespace titan::onnx
