#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/program/ElementTypes.h"

#include <utility>

namespace titan::sema {

using namespace syntax;

/// Parameters have the type of the run. A buffer may declare another type: a mean over thousands of
/// steps needs more digits than a weight, a counter is an integer.
std::optional<DType> Buffers::storedType(const ParamStmt &stmt) {
  if (!stmt.type.dtype)
    return spec.params;
  if (!stmt.isBuffer) {
    report(Code::UnknownOption, stmt.type.dtype->loc,
           "a parameter's element type comes from the run: `precision { params = ... }`");
    return spec.params;
  }
  std::optional<DType> dtype = elaboration.dims.resolveDType(*stmt.type.dtype);
  if (dtype == DType::Bool) {
    report(Code::DTypeMismatch, stmt.type.dtype->loc, "a buffer holds numbers, not booleans")
        .help("an `int` may be 0 or 1");
    return std::nullopt;
  }
  // Runs in f64 serve to verify numbers, so their buffers are f64, like their precision regions.
  return dtype && isFloat(*dtype) && spec.params == DType::F64 ? DType::F64 : dtype;
}

bool Buffers::checkInitialiser(const ParamStmt &stmt, DType dtype, const Initialiser &init) {
  if (canInitialise(dtype, init))
    return true;
  report(Code::BadInitialValue, stmt.initValue->loc,
         "`" + stmt.name.text + "` is int and starts as an integer");
  return false;
}

/// Whether this body declares the buffer and has no earlier update of it.
bool Buffers::mayUpdate(const UpdateStmt &stmt, const Binding &buffer) {
  std::optional<uint32_t> index = elaboration.parameters.findIndex(stmt.name.text);
  if (!index || model.parameters[*index].loc != buffer.loc) {
    for (Parameter &parameter : model.parameters)
      parameter.isUpdated |= parameter.loc == buffer.loc; // no second report about a missing update
    report(Code::UpdateElsewhere, stmt.loc,
           "`" + stmt.name.text + "` is updated in a repeat inside of the body that declares it")
        .note(buffer.loc, "declared here")
        .help("return a value from the repeat and update the buffer after the repeat, or declare "
              "the buffer inside, one per iteration");
    return false;
  }
  if (buffer.updated.isValid()) {
    report(Code::BufferUpdatedTwice, stmt.loc, "`" + stmt.name.text + "` is updated a second time")
        .note(buffer.updated, "the first update is here")
        .help("a buffer has one next value per step: compute it with `let` and update once");
    return false;
  }
  return true;
}

/// A mean over many steps changes little in each, so an update is a precision region of the type of
/// the buffer if that is wider.
Value Buffers::nextValue(const Expr &expr, const std::string &name, const TensorType &type,
                         const std::string &what) {
  DType computed = elaboration.recorder.computeType;
  Value value;
  {
    PrecisionRegion region(elaboration.recorder,
                           isFloat(type.dtype) ? wider(computed, type.dtype) : computed);
    value = eval(expr, &type.dims);
  }
  return checkNextValue(value, name, type, what, expr.loc);
}

Value Buffers::checkNextValue(const Value &value, const std::string &name, const TensorType &type,
                              const std::string &what, Location at) {
  if (!expectTensor(value, at, ("the next value of a " + what).c_str()))
    return {};
  TensorType given = getTensorType(value);
  if (!given.dims.sameDims(type.dims)) {
    report(Code::UpdateDimensions, at,
           "`" + name + "` has " + print(type.dims) + ", but this has " + print(given.dims))
        .help("what a " + what + " lacks must be summed or averaged: `mean(x, over ...)`");
    return {};
  }
  if (!mayJoin(type.dtype, given.dtype)) {
    report(Code::DTypeMismatch, at,
           "`" + name + "` is " + spelling(type.dtype) + ", but this is " + spelling(given.dtype));
    return {};
  }
  return Value::ofTensor(elaboration.recorder.converted(value.tensor, type.dtype, at));
}

void Buffers::update(const UpdateStmt &stmt) {
  Binding *binding = lookup(stmt.name);
  if (!binding) {
    elaboration.reports.unknownName(stmt.name);
    return;
  }
  if (std::string_view(binding->what) != "buffer") {
    bool isParameter = std::string_view(binding->what) == "parameter";
    report(Code::NotABuffer, stmt.name.loc,
           "`" + stmt.name.text + "` is not a buffer" +
               (isParameter ? ": the optimizer changes parameters" : ""))
        .note(binding->loc, std::string("this ") + binding->what)
        .help(isParameter ? "if it is not trained, declare it with `buffer` instead of `param`"
                          : "update a buffer by its declared name");
    return;
  }
  if (!binding->value.isTensor() || !mayUpdate(stmt, *binding))
    return;
  binding->updated = stmt.loc;
  uint32_t index = *elaboration.parameters.findIndex(stmt.name.text);
  model.parameters[index].isUpdated = true;
  std::string outerVariable = std::exchange(context.variable, stmt.name.text);
  const Value next = context.isTraining() ? nextValue(*stmt.value, stmt.name.text,
                                                      model.parameters[index].type, "buffer")
                                          : binding->value;
  context.variable = outerVariable;
  if (!next.isTensor())
    return;
  Op op(OpKind::Update, {next.tensor});
  op.index = index;
  op.loc = elaboration.recorder.callerLocation(stmt.loc);
  op.name = stmt.name.text;
  elaboration.recorder.region->ops.push_back(std::move(op));
}

/// `mean = ...` would be valid only for the rest of the step.
bool Buffers::refuseAssignment(const Name &name, const Binding &binding) {
  if (std::string_view(binding.what) != "buffer")
    return false;
  report(Code::BufferAssigned, name.loc,
         "`" + name.text + "` is a buffer, whose value is constant during a step")
      .note(binding.loc, "declared here")
      .help("set its value for the next step: `update " + name.text + " = ...`");
  return true;
}

void Buffers::checkUpdated() {
  for (const Parameter &parameter : model.parameters)
    if (parameter.isBuffer && !parameter.isUpdated)
      report(Code::BufferNeverUpdated, parameter.loc,
             "buffer `" + parameter.name + "` never changes: it has no `update`")
          .help("for a constant tensor write `param NAME[...] ... { frozen = true }`");
}

} // namespace titan::sema
