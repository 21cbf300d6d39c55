#include "dialects/titan/Onnx/Translation.h"

#include "dialects/titan/IR/TensorType.h"
#include "dialects/titan/Onnx/OnnxModels.h"

using namespace mlir;
using namespace titan;
using namespace titan::onnx;

using Integers = std::vector<int64_t>;

int64_t Tensor::find(StringAttr axis) const {
  const auto *found = llvm::find_if(axes, [&](const Axis &a) { return a.name == axis; });
  return found == axes.end() ? -1 : found - axes.begin();
}

Tensor Translation::get(Value value) {
  auto stacked = stacks.find(value);
  if (stacked == stacks.end())
    return tensors.at(value);
  const Stacked &all = stacked->second;
  std::vector<Tensor> slots = all.slots;
  ArrayRef<ir::DimAttr> dims = ir::getTensorType(value).getDims();
  for (size_t level = all.sizes.size(); level-- > 0;) {
    std::vector<Tensor> outer;
    for (ArrayRef<Tensor> rest = slots; !rest.empty(); rest = rest.drop_front(all.sizes[level]))
      outer.push_back(stack(rest.take_front(all.sizes[level]), getAxis(dims[level])));
    slots = std::move(outer);
  }
  return slots.front();
}

Stacked Translation::getSlots(Value value) {
  auto found = stacks.find(value);
  return found == stacks.end() ? Stacked{{}, {get(value)}} : found->second;
}

void Translation::setSlot(Value slot, Value stacked, int64_t index) {
  if (caches.contains(stacked))
    caches.insert(slot);
  auto found = stacks.find(stacked);
  if (found == stacks.end()) {
    const Tensor whole = get(stacked);
    set(slot, add("Gather", {whole.name, graph.addInteger(index)},
                  ArrayRef(whole.axes).drop_front(), whole.type, {{"axis", int64_t{0}}}));
    return;
  }
  const Stacked &all = found->second;
  if (all.sizes.size() == 1)
    return set(slot, Tensor(all.slots[index]));
  const size_t length = all.slots.size() / all.sizes.front();
  const ArrayRef<Tensor> inner = ArrayRef(all.slots).slice(index * length, length);
  set(slot, Stacked{{all.sizes.begin() + 1, all.sizes.end()}, inner.vec()});
}

LogicalResult Translation::translate(Block &block) {
  for (Operation &op : block.without_terminator()) {
    auto translatable = dyn_cast<OnnxOpInterface>(op);
    if (!translatable)
      return op.emitError("`" + op.getName().stripDialect() + "` has no translation to ONNX");
    if (failed(translatable.translateToOnnx(*this)))
      return failure();
  }
  return success();
}

void Translation::setSource(Symbol symbol, StringRef input, int64_t axis) {
  sources[static_cast<size_t>(symbol)] =
      graph.add("Shape", {input.str()}, {{"start", axis}, {"end", axis + 1}});
}

/// Runtimes lack arithmetic in bf16. Every number of this type is one of f32.
ElementType Translation::getType(ir::NamedTensorType type) const {
  const Type element = type.getElementType();
  if (element.isInteger(1))
    return ElementType::Bool;
  if (element.isInteger())
    return ElementType::I64;
  if (element.isF64())
    return ElementType::F64;
  return ElementType::F32;
}

SmallVector<Axis> Translation::getAxes(ir::NamedTensorType type) const {
  return llvm::map_to_vector(type.getDims(), [&](ir::DimAttr dim) { return getAxis(dim); });
}

SmallVector<Axis> Translation::join(ArrayRef<Axis> lhs, ArrayRef<Axis> rhs) {
  SmallVector<Axis> all(lhs);
  for (const Axis &axis : rhs)
    if (llvm::none_of(lhs, [&](const Axis &other) { return other.name == axis.name; }))
      all.push_back(axis);
  return all;
}

Tensor Translation::add(StringRef op, ArrayRef<std::string> inputs, ArrayRef<Axis> axes,
                        ElementType type, std::vector<NodeAttribute> attributes) {
  return {graph.add(op, inputs, std::move(attributes)), type, SmallVector<Axis>(axes)};
}

Tensor Translation::map(StringRef op, ArrayRef<Tensor> operands, ArrayRef<Axis> axes,
                        ElementType type, std::vector<NodeAttribute> attributes) {
  SmallVector<std::string> inputs;
  for (const Tensor &operand : operands)
    inputs.push_back(align(operand, axes));
  return add(op, inputs, axes, type, std::move(attributes));
}

Tensor Translation::transpose(const Tensor &operand, ArrayRef<Axis> axes) {
  Integers order;
  for (const Axis &axis : axes)
    order.push_back(operand.find(axis.name));
  if (llvm::is_sorted(order))
    return operand;
  return add("Transpose", {operand.name}, axes, operand.type, {{"perm", order}});
}

std::string Translation::align(const Tensor &operand, ArrayRef<Axis> axes) {
  SmallVector<Axis> own;
  Integers missing;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (operand.has(axis.name))
      own.push_back(axis);
    else if (!own.empty()) // axes before the first are added by the rules of broadcasting
      missing.push_back(static_cast<int64_t>(i));
  const std::string name = transpose(operand, own).name;
  if (missing.empty())
    return name;
  const int64_t leading = static_cast<int64_t>(axes.size() - own.size() - missing.size());
  for (int64_t &axis : missing)
    axis -= leading;
  return graph.add("Unsqueeze", {name, graph.addIntegers(missing)});
}

/// A size that the input has at the same place is copied (0), and one size may follow from the
/// others
/// (-1). With more sizes that are not known, the shape is computed.
Tensor Translation::reshape(const Tensor &operand, ArrayRef<Axis> axes) {
  constexpr int64_t copied = 0, computed = -1;
  Integers shape;
  SmallVector<Extent> extents;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    const bool isSame = i < operand.axes.size() && operand.axes[i].extent == axis.extent;
    shape.push_back(axis.extent.isKnown() ? axis.extent.constant : isSame ? copied : computed);
    extents.push_back(axis.extent);
  }
  const bool isComputed = llvm::count(shape, computed) > 1;
  const std::string to = isComputed ? sizes(extents) : graph.addIntegers(shape);
  return add("Reshape", {operand.name, to}, axes, operand.type);
}

Tensor Translation::expand(const Tensor &operand, ArrayRef<Axis> axes) {
  SmallVector<Extent> extents;
  for (const Axis &axis : axes)
    extents.push_back(axis.extent);
  return add("Expand", {align(operand, axes), sizes(extents)}, axes, operand.type);
}

Tensor Translation::rename(Tensor operand, StringAttr from, StringAttr to) const {
  for (Axis &axis : operand.axes)
    if (axis.name == from)
      axis.name = to;
  return operand;
}

Tensor Translation::cast(const Tensor &operand, ElementType type) {
  if (operand.type == type)
    return operand;
  return add("Cast", {operand.name}, operand.axes, type, {{"to", static_cast<int64_t>(type)}});
}

Tensor Translation::slice(const Tensor &operand, StringAttr name, int64_t first, Axis axis,
                          int64_t step) {
  const int64_t at = operand.find(name);
  SmallVector<Axis> axes = operand.axes;
  axes[at] = axis;
  Extent last = axis.extent;
  last.constant += (step - 1) * (last.constant - 1) + first;
  if (first == 0 && step == 1 && last == operand.axes[at].extent)
    return {operand.name, operand.type, axes};
  return add("Slice",
             {operand.name, graph.addIntegers(first), sizes(last), graph.addIntegers(at),
              graph.addIntegers(step)},
             axes, operand.type);
}

Tensor Translation::reduce(StringRef op, const Tensor &operand, ArrayRef<Axis> axes) {
  Integers reduced;
  SmallVector<Axis> remaining;
  for (auto [i, axis] : llvm::enumerate(operand.axes))
    if (llvm::any_of(axes, [&](const Axis &other) { return other.name == axis.name; }))
      remaining.push_back(axis);
    else
      reduced.push_back(static_cast<int64_t>(i));
  if (reduced.empty())
    return transpose(operand, axes);
  Tensor result = add(op, {operand.name, graph.addIntegers(reduced)}, remaining, operand.type,
                      {{"keepdims", int64_t{0}}});
  return transpose(result, axes);
}

Tensor Translation::concatenate(ArrayRef<Tensor> operands, Axis axis) {
  SmallVector<std::string> inputs;
  for (const Tensor &operand : operands)
    inputs.push_back(operand.name);
  SmallVector<Axis> axes = operands.front().axes;
  const int64_t at = operands.front().find(axis.name);
  axes[at] = axis;
  return add("Concat", inputs, axes, operands.front().type, {{"axis", at}});
}

Tensor Translation::stack(ArrayRef<Tensor> slots, Axis axis) {
  SmallVector<Tensor> operands;
  SmallVector<Axis> axes = {axis};
  axes.append(slots.front().axes);
  for (const Tensor &slot : slots)
    operands.push_back(
        add("Unsqueeze", {slot.name, graph.addIntegers(int64_t{0})}, axes, slot.type));
  return concatenate(operands, axis);
}

Tensor Translation::number(ElementType type, double value) {
  return {graph.addNumber(type, value), type, {}};
}

Tensor Translation::iota(Axis axis) {
  return add("Range", {graph.addInteger(0), size(axis.extent).name, graph.addInteger(1)}, axis,
             ElementType::I64);
}

/// A tensor with the one element `extent`.
std::string Translation::addSize(const Extent &extent) {
  std::string sum;
  auto addTerm = [&](const std::string &term) {
    sum = sum.empty() ? term : graph.add("Add", {sum, term});
  };
  for (auto [source, count] : llvm::zip_equal(sources, extent.counts))
    if (count == 1)
      addTerm(source);
    else if (count != 0)
      addTerm(graph.add("Mul", {source, graph.addIntegers(count)}));
  if (extent.constant || sum.empty())
    addTerm(graph.addIntegers(extent.constant));
  return sum;
}

std::string Translation::sizes(ArrayRef<Extent> extents) {
  SmallVector<std::string> operands;
  Integers known;
  for (const Extent &extent : extents) {
    known.push_back(extent.constant);
    operands.push_back(addSize(extent));
  }
  if (llvm::all_of(extents, [](const Extent &extent) { return extent.isKnown(); }))
    return graph.addIntegers(known);
  return operands.size() == 1 ? operands.front()
                              : graph.add("Concat", operands, {{"axis", int64_t{0}}});
}

Tensor Translation::size(const Extent &extent) {
  if (extent.isKnown())
    return {graph.addInteger(extent.constant), ElementType::I64, {}};
  return add("Squeeze", {addSize(extent), graph.addIntegers(int64_t{0})}, {}, ElementType::I64);
}

/// ONNX Runtime has no choice between truth values.
Tensor Translation::select(const Tensor &condition, const Tensor &whenTrue, const Tensor &whenFalse,
                           ArrayRef<Axis> axes) {
  if (whenTrue.type != ElementType::Bool)
    return map("Where", {condition, whenTrue, whenFalse}, axes, whenTrue.type);
  const Tensor isFalse = map("Not", condition, condition.axes, ElementType::Bool);
  const Tensor first = map("And", {condition, whenTrue}, axes, ElementType::Bool);
  return map("Or", {first, map("And", {isFalse, whenFalse}, axes, ElementType::Bool)}, axes,
             ElementType::Bool);
}
