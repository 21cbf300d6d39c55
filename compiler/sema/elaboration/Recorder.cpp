// Appends operations to the program under construction.
#include "base/data/Feed.h"
#include "compiler/sema/elaboration/Elaboration.h"

#include <utility>

namespace titan::sema {

using namespace syntax;

Recorder::Recorder(Elaboration &elaboration)
    : ElaboratorComponent(elaboration), region(&model.body), computeType(spec.compute) {}

/// Operations of an inlined function have the source line of its call, which readers of the emitted
/// program expect. Operations of blocks keep their own lines.
Location Recorder::callerLocation(Location at) const {
  Location location = at;
  for (const Frame *inner = context.frame; inner && inner->decl && inner->decl->is<FnDecl>();
       inner = inner->caller)
    location = inner->callSite;
  return location;
}

ValueId Recorder::newValue(TensorType type, Location at) {
  model.values.push_back(
      {std::move(type), context.variable.empty() ? "value" : context.variable, callerLocation(at)});
  auto id = static_cast<ValueId>(model.values.size() - 1);
  known.positions.erase(id); // iterations of a repeat reuse the ids of values
  known.droppingTerms.erase(id);
  return id;
}

/// Elements that an index counts exactly; and those of gathered elements, which usually never
/// exist: a contraction reads them from the table. --titan-verify-model-phase refuses those that
/// remain.
static double getMaxElements(OpKind kind) {
  return kind == OpKind::Gather ? 0x1p60 : 0x1p53;
}

/// Whether a result of `kind` has at most `maxDims` dimensions, and not too many elements over all
/// enclosing repeats; reports an error if not.
bool Recorder::checkElements(OpKind kind, const TensorType &type, Location at) {
  if (type.dims.size() > maxDims) {
    report(Code::TooLarge, at, "a tensor has at most " + std::to_string(maxDims) + " dimensions");
    return false;
  }
  double count = 1;
  for (const Loop &loop : context.loops)
    count *= static_cast<double>(model.dims[loop.dim].size);
  for (DimId id : type.dims)
    count *= static_cast<double>(model.dims[id].size);
  if (count <= getMaxElements(kind))
    return true;
  // One size often makes many tensors too large; report it once.
  if (!std::exchange(reportedTooLarge, true))
    reportTooLarge(type, at);
  return false;
}

void Recorder::reportTooLarge(const TensorType &type, Location at) {
  std::string repeats;
  for (const Loop &loop : context.loops)
    repeats += (repeats.empty() ? " in repeats of " : " x ") + model.dims[loop.dim].name + " = " +
               std::to_string(model.dims[loop.dim].size);
  report(Code::TooLarge, at,
         "a tensor with " + printSizes(type.dims) + repeats + " has over 2**53 elements");
}

ValueId Recorder::converted(ValueId value, DType dtype, Location at) {
  const TensorType type = model.values[value].type;
  if (!isFloat(type.dtype) || type.dtype == dtype)
    return value;
  if (auto made = known.conversions.find({value, dtype}); made != known.conversions.end())
    return made->second;
  std::string outer = context.variable; // the copy has the name of its source
  context.variable = model.values[value].name;
  Value copy = append(Op(OpKind::Cast, {value}), {dtype, type.dims}, at);
  context.variable = outer;
  if (!copy.isTensor())
    return value;
  known.conversions[{value, dtype}] = copy.tensor;
  return copy.tensor;
}

Value Recorder::emit(Op op, TensorType type, Location at) {
  if (isFloat(type.dtype))
    type.dtype = computeType;
  Value all = emitAll(std::move(op), {std::move(type)}, at);
  return all.isError() ? all : all.elements[0];
}

Value Recorder::emitAll(Op op, std::vector<TensorType> types, Location at) {
  for (ValueId &operand : op.operands)
    operand = converted(operand, computeType, at);
  return appendAll(std::move(op), std::move(types), at);
}

Value Recorder::append(Op op, TensorType type, Location at) {
  Value all = appendAll(std::move(op), {std::move(type)}, at);
  return all.isError() ? all : all.elements[0];
}

Value Recorder::appendAll(Op op, std::vector<TensorType> types, Location at) {
  std::vector<Value> results;
  for (TensorType &type : types) {
    if (!checkElements(op.kind, type, at))
      return {};
    op.results.push_back(newValue(std::move(type), at));
    results.push_back(Value::ofTensor(op.results.back()));
  }
  op.loc = model.values[op.results[0]].loc;
  op.name = model.values[op.results[0]].name;
  for (Frame *called = context.frame; called; called = called->caller)
    if (called->decl && called->decl->is<BlockDecl>())
      op.blocks.push_back(getName(*called->decl).text);
  notePositions(op);
  elaboration.inputDropout.follow(op);
  region->ops.push_back(std::move(op));
  return Value::ofList(std::move(results));
}

void Recorder::notePositions(const Op &op) {
  ValueId id = op.results[0];
  if (model.values[id].type.dtype != DType::I64)
    return;
  std::vector<const Positions *> operands;
  for (ValueId operand : op.operands) {
    auto found = known.positions.find(operand);
    operands.push_back(found == known.positions.end() ? nullptr : &found->second);
  }
  if (op.kind == OpKind::Input)
    return noteDocumentPositions(model.inputs[static_cast<size_t>(op.index)], id);
  if (std::optional<Positions> followed = followPositions(op, model.dims, operands))
    known.positions[id] = std::move(*followed);
}

/// Inputs of document numbers and positions are smaller than the length of a sample.
void Recorder::noteDocumentPositions(const Input &input, ValueId id) {
  std::optional<Feed> feed = findFeed(input.name);
  if (spec.readsTokens && feed && isBelowSampleLength(*feed) && !input.type.dims.empty())
    known.positions[id] = Positions{0, {{input.type.dims[input.type.dims.size() - 1], 1}}};
}

/// The range is known only for indices that derive from `index(d)`; other indices pass.
bool Recorder::indexFits(const Value &index, DimId dim, Location at) {
  auto found = known.positions.find(index.tensor);
  if (found == known.positions.end())
    return true;
  auto [least, most] = found->second.range(model.dims);
  const Dim &indexed = model.dims[dim];
  if (least >= 0 && most < indexed.size)
    return true;
  Diagnostic &diag =
      report(Code::IndexOutOfRange, at,
             "the index runs from " + std::to_string(least) + " to " + std::to_string(most) +
                 ", but `" + indexed.name + "` has " + std::to_string(indexed.size) + " elements");
  diag.note("the index has " + printSizes(getTensorType(index).dims));
  Binding *binding = context.frame->scope->find(indexed.name);
  if (binding && binding->dims == std::vector{dim} && binding->loc.isValid())
    diag.note(binding->loc, "`" + indexed.name + "` comes from here");
  return false;
}

void Recorder::dropFrom(size_t value) {
  model.values.resize(value);
  known.positions.erase(known.positions.lower_bound(static_cast<ValueId>(value)),
                        known.positions.end());
  known.droppingTerms.erase(known.droppingTerms.lower_bound(static_cast<ValueId>(value)),
                            known.droppingTerms.end());
}

} // namespace titan::sema
