// The body of a schedule: a function of numbers, most of which are known when the program runs.
#include "compiler/sema/elaboration/Elaboration.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

/// The value of an option as a number: a word is its index among the words of the option.
static Value getNumber(const LaunchOption &option) {
  if (option.value.isNumber())
    return option.value;
  if (option.words.empty())
    return Value::ofInt(option.value.boolean());
  auto word = std::find(option.words.begin(), option.words.end(), option.value.text);
  return Value::ofInt(word - option.words.begin());
}

/// The value of an option in the body: a constant if it is fixed at compile time, else an input
/// that the runtime sets at launch.
Value Statements::launchOption(const Name &name, const LaunchOption &option) {
  const TensorType type{DType::F64, {}};
  const Value number = option.isFixed
                           ? elaboration.tensors.constantLike(getNumber(option), type, name.loc)
                           : addInput(name, type);
  if (!option.words.empty())
    return Value::ofChoice(number.tensor, option.words);
  if (option.value.kind == Value::Kind::Bool)
    return elaboration.tensors.elementwise("ne", number, Value::ofInt(0), name.loc, name.loc,
                                           name.loc);
  return number;
}

/// Whether every operation computes numbers from numbers; reports the first one that does not.
bool Statements::computesNumbers(const ScheduleDecl &decl) {
  for (const Op &op : model.body.ops) {
    const bool isOfNumbers = op.kind == OpKind::Input || op.kind == OpKind::Constant ||
                             op.kind == OpKind::Elementwise || op.kind == OpKind::Cast;
    const bool isNumber = op.results.size() == 1 && model.values[op.results[0]].type.dims.empty();
    if (isOfNumbers && isNumber)
      continue;
    report(Code::BadOperands, op.loc, "a schedule computes with numbers alone")
        .note(decl.name.loc, "the runtime evaluates it once per step, before the step");
    return false;
  }
  return true;
}

void Statements::schedule(const ScheduleDecl &decl) {
  auto isPlain = [](const Formal &formal) {
    return formal.kind == FormalKind::Value && !formal.defaultValue && formal.type.isEmpty();
  };
  if (decl.formals.size() > scheduleArguments ||
      !std::all_of(decl.formals.begin(), decl.formals.end(), isPlain)) {
    report(Code::BadArgument, decl.name.loc,
           "schedule `" + decl.name.text +
               "` takes names for the number of the step and the number of all steps, in this "
               "order; the last ones may be missing")
        .help("write `schedule " + decl.name.text +
              "(step, steps)`; declare settings of the run by `option` in the body");
    return;
  }
  for (const Formal &formal : decl.formals)
    context.frame->scope->define(
        formal.name.text,
        {addInput(formal.name, {DType::F64, {}}), {}, false, formal.loc, "argument"});
  elaborate(decl.body);
  if (!context.frame->returned) {
    report(Code::NoResult, decl.name.loc, "schedule `" + decl.name.text + "` returns nothing")
        .help("end its body in `return value`: the factor of the learning rate");
    return;
  }
  Value factor = *context.frame->returned;
  if (factor.isNumber())
    factor = elaboration.tensors.constantLike(factor, {DType::F64, {}}, decl.name.loc);
  if (factor.isError() || !computesNumbers(decl))
    return;
  if (!factor.isTensor() || !isFloat(getTensorType(factor).dtype)) {
    report(Code::AssignmentChangesType, decl.name.loc,
           std::string("the factor of the learning rate is ") +
               (factor.isTensor() ? "a boolean" : factor.describe()) + ", not a number");
    return;
  }
  model.outputs.push_back({"factor", factor.tensor, decl.name.loc});
}

} // namespace titan::sema
