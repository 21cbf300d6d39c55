// Buffers: tensors that a step changes and that are not trained. To everything else they are
// parameters; here is what makes them change.
//
// An update says the value from the next step on. Until then everybody reads the one that the step
// began with, so neither the order of statements nor parts of the batch nor what the backward
// computes again can change what is read (docs/rationale/buffers.md).
#include "compiler/sema/Elaborator.h"
#include "compiler/sema/ParameterRules.h"

#include <utility>

namespace titan::sema {

using namespace syntax;

/// Parameters have the type that the run says. A buffer may have one of its own: a mean over
/// thousands of steps needs more digits than a weight, a counter is an integer.
std::optional<DType> Elaborator::storedType(const ParamStmt &stmt) {
  if (!stmt.type.dtype)
    return spec.params;
  if (!stmt.isBuffer) {
    report(Code::UnknownOption, stmt.type.dtype->loc,
           "a parameter's element type comes from the run: `precision { params = ... }`");
    return spec.params;
  }
  std::optional<DType> dtype = dtypeOf(*stmt.type.dtype);
  if (dtype == DType::Bool) {
    report(Code::DTypeMismatch, stmt.type.dtype->loc, "a buffer holds numbers, not truth values")
        .help("an `int` may be 0 or 1");
    return std::nullopt;
  }
  // A run in f64 is there to check numbers with, as for islands.
  return dtype && isFloat(*dtype) && spec.params == DType::F64 ? DType::F64 : dtype;
}

/// Whether a tensor of this type can start as it is declared to.
bool Elaborator::mayStart(const ParamStmt &stmt, DType dtype, const Initialiser &init) {
  if (canStart(dtype, init))
    return true;
  report(Code::BadInitialValue, stmt.initValue->loc,
         "`" + stmt.name.text + "` is int and starts as a whole number");
  return false;
}

/// Whether this is the body that declares the buffer, and its first update there.
bool Elaborator::mayUpdate(const UpdateStmt &stmt, const Binding &buffer) {
  auto known = parameterIndex.find(parameterName(stmt.name.text));
  if (known == parameterIndex.end() || model.parameters[known->second].loc != buffer.loc) {
    for (Parameter &parameter : model.parameters)
      parameter.isUpdated |=
          parameter.loc == buffer.loc; // that it never is, is not to be said as well
    report(Code::UpdateElsewhere, stmt.loc,
           "`" + stmt.name.text + "` is updated in a repeat inside of the body that declares it")
        .note(buffer.loc, "declared here")
        .help("carry a value out of the repeat and update the buffer behind it, or declare the "
              "buffer inside: then every iteration has its own");
    return false;
  }
  if (buffer.updated.isValid()) {
    report(Code::BufferUpdatedTwice, stmt.loc, "`" + stmt.name.text + "` is updated a second time")
        .note(buffer.updated, "the first update is here")
        .help("a step has one next value of it: compute that with `let` and update once");
    return false;
  }
  return true;
}

/// The value in the buffer's type. A mean over many steps moves by little in each, so what an
/// update says is an island of the buffer's type where that is the wider one.
Value Elaborator::nextValue(const UpdateStmt &stmt, const TensorType &type) {
  DType outer = computeType;
  if (isFloat(type.dtype))
    computeType = wider(outer, type.dtype);
  std::string outerVariable = std::exchange(variable, stmt.name.text);
  Value value = eval(*stmt.value, &type.dims);
  computeType = outer;
  Location at = stmt.value->loc;
  if (!expectTensor(value, at, "the next value of a buffer")) {
    value = {};
  } else if (TensorType given = typeOf(value); !given.dims.sameDims(type.dims)) {
    report(Code::UpdateDimensions, at,
           "`" + stmt.name.text + "` has " + print(type.dims) + ", but this has " +
               print(given.dims))
        .help("what a buffer lacks must be summed or averaged: `mean(x, over ...)`");
    value = {};
  } else if (!mayJoin(type.dtype, given.dtype)) {
    report(Code::DTypeMismatch, at,
           "`" + stmt.name.text + "` is " + spelling(type.dtype) + ", but this is " +
               spelling(given.dtype));
    value = {};
  } else {
    value = Value::ofTensor(converted(value.tensor, type.dtype, at));
  }
  variable = outerVariable;
  return value;
}

void Elaborator::update(const UpdateStmt &stmt) {
  Binding *binding = lookup(stmt.name);
  if (!binding) {
    reportUnknownName(stmt.name, stmt.name.loc);
    return;
  }
  if (std::string_view(binding->what) != "buffer") {
    bool isParameter = std::string_view(binding->what) == "parameter";
    report(Code::NotABuffer, stmt.name.loc,
           "`" + stmt.name.text + "` is no buffer" +
               (isParameter ? ": parameters are changed by the optimizer" : ""))
        .note(binding->loc, std::string("this ") + binding->what)
        .help(isParameter
                  ? "declare it with `buffer` instead of `param`, if it is not to be trained"
                  : "a buffer is updated by the name that declares it");
    return;
  }
  if (!binding->value.isTensor() || !mayUpdate(stmt, *binding))
    return;
  binding->updated = stmt.loc;
  uint32_t index = parameterIndex.at(parameterName(stmt.name.text));
  model.parameters[index].isUpdated = true;
  Value next = nextValue(stmt, model.parameters[index].type);
  if (!next.isTensor())
    return;
  Op op(OpKind::Update, {next.tensor});
  op.index = index;
  op.loc = placeOf(stmt.loc);
  op.name = stmt.name.text;
  region->ops.push_back(std::move(op));
}

/// `mean = ...` would hold for the rest of the step only.
bool Elaborator::refuseAssignment(const Name &name, const Binding &binding) {
  if (std::string_view(binding.what) != "buffer")
    return false;
  report(Code::BufferAssigned, name.loc,
         "`" + name.text + "` is a buffer, which keeps its value until the step ends")
      .note(binding.loc, "declared here")
      .help("say what it is from the next step on: `update " + name.text + " = ...`");
  return true;
}

void Elaborator::checkUpdated() {
  for (const Parameter &parameter : model.parameters)
    if (parameter.isBuffer && !parameter.isUpdated)
      report(Code::BufferNeverUpdated, parameter.loc,
             "buffer `" + parameter.name + "` would never change: no `update` says its next value")
          .help("a tensor that stays as it starts is `param NAME[...] ... { frozen = true }`");
}

} // namespace titan::sema
