// How operations get into the program under construction.
#include "compiler/sema/Elaborator.h"

#include <utility>

namespace titan::sema {

using namespace syntax;

/// Ops of an inlined function belong to the line that called it: that is the line a reader of the
/// emitted program wants to see. Blocks keep their own lines.
Location Elaborator::placeOf(Location at) const {
  Location place = at;
  for (const Frame *inner = frame; inner && inner->decl && inner->decl->is<FnDecl>();
       inner = inner->caller)
    place = inner->callSite;
  return place;
}

ValueId Elaborator::newValue(TensorType type, Location at) {
  model.values.push_back({std::move(type), variable.empty() ? "value" : variable, placeOf(at)});
  auto id = static_cast<ValueId>(model.values.size() - 1);
  positions.erase(id); // a repeat's next iteration uses numbers again
  return id;
}

/// Sizes are products of what a user writes; beyond this bound they could not even be counted.
bool Elaborator::checkElements(const TensorType &type, Location at) {
  constexpr double most = 0x1p53;
  if (type.dims.size() > mostDims) {
    report(Code::TooLarge, at, "a tensor has at most " + std::to_string(mostDims) + " dimensions");
    return false;
  }
  double count = 1;
  for (const Loop &loop : loops)
    count *= static_cast<double>(model.dims[loop.dim].size);
  for (DimId id : type.dims)
    count *= static_cast<double>(model.dims[id].size);
  // One size is to blame, and what it makes too large are many tensors.
  if (count > most && !std::exchange(uncountable, true))
    report(Code::TooLarge, at,
           "a tensor with " + printSizes(type.dims) + " has over 2**53 elements");
  return count <= most;
}

ValueId Elaborator::converted(ValueId value, DType dtype, Location at) {
  const TensorType type = model.values[value].type;
  if (!isFloat(type.dtype) || type.dtype == dtype)
    return value;
  if (auto known = conversions.find({value, dtype}); known != conversions.end())
    return known->second;
  std::string outer = variable; // the copy is called what it is a copy of
  variable = model.values[value].name;
  Value copy = append(Op(OpKind::Cast, {value}), {dtype, type.dims}, at);
  variable = outer;
  if (!copy.isTensor())
    return value;
  conversions[{value, dtype}] = copy.tensor;
  return copy.tensor;
}

Value Elaborator::emit(Op op, TensorType type, Location at) {
  if (isFloat(type.dtype))
    type.dtype = computeType;
  Value all = emitAll(std::move(op), {std::move(type)}, at);
  return all.isError() ? all : all.elements[0];
}

Value Elaborator::emitAll(Op op, std::vector<TensorType> types, Location at) {
  for (ValueId &operand : op.operands)
    operand = converted(operand, computeType, at);
  return appendAll(std::move(op), std::move(types), at);
}

Value Elaborator::append(Op op, TensorType type, Location at) {
  Value all = appendAll(std::move(op), {std::move(type)}, at);
  return all.isError() ? all : all.elements[0];
}

Value Elaborator::appendAll(Op op, std::vector<TensorType> types, Location at) {
  std::vector<Value> results;
  for (TensorType &type : types) {
    if (!checkElements(type, at))
      return {};
    op.results.push_back(newValue(std::move(type), at));
    results.push_back(Value::ofTensor(op.results.back()));
  }
  op.loc = model.values[op.results[0]].loc;
  op.name = model.values[op.results[0]].name;
  for (Frame *called = frame; called; called = called->caller)
    if (called->decl && called->decl->is<BlockDecl>())
      op.blocks.push_back(nameOf(*called->decl).text);
  notePositions(op);
  region->ops.push_back(std::move(op));
  return Value::ofList(std::move(results));
}

} // namespace titan::sema
