#include "compiler/sema/elaboration/ArgumentBinder.h"
#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/syntax/ForeignNames.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

/// `over d, e`.
bool takesMultipleDims(const Actual &actual) {
  return actual.kind != ArgKind::Keyword && actual.arg->dims && actual.arg->dims->from.size() > 1;
}

/// Notes where a callable was passed: its later call alone explains little.
void notePassing(Diagnostic &diag, const Call &call) {
  if (call.calleeValue)
    diag.note(call.calleeValue->loc, "`" + call.name + "` is passed as an argument here");
}

} // namespace

Value ArgumentBinder::evalActual(const Actual &actual) {
  return actual.value ? *actual.value : eval(*actual.arg->value);
}

bool ArgumentBinder::bind() {
  bool good = bindCallOptions();
  if (reportUnknownKeywords())
    return false; // its formal would be reported as missing
  // Dimensions first: the types of the others may mention them.
  for (const Formal &formal : formals)
    if (formal.kind != FormalKind::Value)
      good &= bindDim(formal);
  for (const Formal &formal : formals)
    if (formal.kind == FormalKind::Value)
      good &= bindValue(formal);
  // A surplus argument is often the missing one, so one message suffices.
  return good && reportUnused();
}

/// An argument of the callee of this name takes precedence.
bool ArgumentBinder::bindCallOptions() {
  auto isFormal = [&](const Actual &actual) {
    return std::ranges::any_of(
        formals, [&](const Formal &formal) { return actual.isKeyword(formal.name.text); });
  };
  bool good = true;
  for (size_t i = 0; i < call.args.size(); ++i)
    if (const Actual &actual = call.args[i]; Callables::isCallOption(actual) && !isFormal(actual)) {
      used[i] = true;
      good &= elaboration.callables.readCallOption(actual, callee);
    }
  return good;
}

/// The dimension that is probably meant: one that only the first tensor has, as in
/// `cross_entropy(logits, labels)`, else its last.
std::string ArgumentBinder::likelyDim() const {
  std::vector<DimSet> given;
  for (const Actual &actual : call.args) {
    auto *name = actual.arg->value ? actual.arg->value->as<NameExpr>() : nullptr;
    Binding *binding = name && name->path.isSimple() ? lookup(name->path.last()) : nullptr;
    if (binding && binding->value.isTensor())
      given.push_back(getTensorType(binding->value).dims);
  }
  if (given.empty() || given[0].empty())
    return "embed";
  DimSet rest = given.size() > 1 ? given[0].without(given[1]) : given[0];
  const DimSet &dims = rest.empty() ? given[0] : rest;
  return model.dims[dims[dims.size() - 1]].name;
}

bool ArgumentBinder::bindDim(const Formal &formal) {
  ArgKind wanted = formal.kind == FormalKind::Over ? ArgKind::Over : ArgKind::Along;
  // Defined as an error first: defaults of arguments may name it, and would report again.
  callee.scope->define(formal.name.text, {{}, {}, true, formal.name.loc, "dimension"});
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Actual &actual = call.args[i];
    if (used[i] || actual.kind != wanted || !actual.arg->dims)
      continue;
    used[i] = true;
    std::vector<DimId> ids = actual.dims ? *actual.dims : elaboration.dims.dimsAfter(*actual.arg);
    if (ids.empty())
      return false;
    int64_t size = 1; // bounded by the largest tensor
    for (DimId id : ids)
      size *= model.dims[id].size;
    callee.scope->define(
        formal.name.text,
        {Value::ofInt(size), ids, true, actual.loc, "dimension", {}, formal.name.loc});
    return true;
  }
  const char *word = formal.kind == FormalKind::Over ? "over" : "along";
  Diagnostic &diag = report(Code::ArgumentMissing, call.loc,
                            "`" + call.name + "` needs `" + word + " " + formal.name.text +
                                "`: a dimension to work " + word);
  diag.note(formal.name.loc, "declared here");
  diag.help(std::string("name one: `") + call.name + "(..., " + word + " " + likelyDim() + ")`");
  notePassing(diag, call);
  return false;
}

std::optional<size_t> ArgumentBinder::findPosition(const Formal &formal) const {
  for (size_t i = 0; i < call.args.size(); ++i)
    if (!used[i] && call.args[i].isKeyword(formal.name.text))
      return i;
  for (size_t i = 0; i < call.args.size(); ++i)
    if (!used[i] && call.args[i].kind == ArgKind::Positional)
      return i;
  return std::nullopt;
}

bool ArgumentBinder::bindValue(const Formal &formal) {
  Value value;
  Location at = formal.loc;
  if (std::optional<size_t> position = findPosition(formal)) {
    const Actual &actual = call.args[*position];
    used[*position] = true;
    at = actual.loc;
    if (!actual.arg->value) {
      report(Code::BadArgument, at, "a value is needed here, not dimensions");
      return false;
    }
    value = evalActual(actual);
  } else if (formal.defaultValue) {
    Frame *caller = context.frame;
    context.frame = &callee; // a default may use the parameters before it
    value = eval(*formal.defaultValue);
    context.frame = caller;
  } else {
    reportMissing(formal);
    return false;
  }
  if (!value.isError())
    checkDims(formal, value, at);
  value = elaboration.annotations.convert(value, elaboration.annotations.getStated(formal.type),
                                          formal.type, at);
  bool isNumber = value.isInt();
  bool good = !value.isError();
  callee.scope->define(formal.name.text,
                       {std::move(value), {}, isNumber, at, "argument", {}, formal.name.loc});
  return good;
}

void ArgumentBinder::reportMissing(const Formal &formal) {
  Diagnostic &diag = report(Code::ArgumentMissing, call.loc,
                            "`" + call.name + "` needs a value for `" + formal.name.text + "`");
  diag.note(formal.name.loc, "declared here, without a default");
  notePassing(diag, call);
  bool hasValues = std::any_of(call.args.begin(), call.args.end(), [](const Actual &actual) {
    return actual.kind == ArgKind::Positional;
  });
  if (std::any_of(call.args.begin(), call.args.end(), takesMultipleDims))
    diag.help("after `over` or `along`, every bare name is one more dimension: write `" +
              formal.name.text + " = ...`");
  else if (!hasValues && call.callee.isBlock())
    diag.help("to pass the block as an argument, write `" + call.name +
              "` alone, or `_` for each open argument: `" + call.name +
              (call.args.empty() ? "(_)`" : "(_, ...)`"));
}

/// The type of a block parameter has dimensions of the model; the argument must have exactly these.
/// A function is polymorphic: the argument must have at least these.
void ArgumentBinder::checkDims(const Formal &formal, Value &value, Location at) {
  if (!formal.type.dims)
    return;
  if (!expectTensor(value, at, ("`" + formal.name.text + "`").c_str())) {
    value = {};
    return;
  }
  Frame *caller = context.frame;
  context.frame = &callee;
  for (const DimRef &ref : formal.type.dims->dims) {
    const Name &name = ref.dim.last();
    if (callee.scope->find(name.text))
      continue;
    if (Binding *outer = findDimInCallers(name.text, &callee)) {
      elaboration.dims.asDims(name.text, *outer, name.loc);
      callee.scope->define(name.text, *outer);
    }
  }
  std::optional<DimSet> declared = elaboration.dims.dimSet(*formal.type.dims);
  context.frame = caller;
  if (!declared) {
    value = {};
    return;
  }
  DimSet actual = getTensorType(value).dims;
  bool fits =
      callee.decl->is<FnDecl>() ? actual.containsAll(*declared) : actual.sameDims(*declared);
  if (fits)
    return;
  report(Code::ArgumentDimensionsDiffer, at,
         "`" + formal.name.text + "` of `" + getName(*callee.decl).text + "` has " +
             print(*declared) + ", but this has " + print(actual))
      .note(formal.loc, "declared here");
  value = {};
}

namespace {

std::vector<std::string> getNames(const std::vector<Formal> &formals) {
  std::vector<std::string> names;
  for (const Formal &formal : formals)
    names.push_back(formal.name.text);
  return names;
}

/// "`x`, `over d` and `eps`".
std::string listFormals(const std::vector<Formal> &formals) {
  std::vector<std::string> shown;
  for (const Formal &formal : formals)
    shown.push_back((formal.kind == FormalKind::Over    ? "over "
                     : formal.kind == FormalKind::Along ? "along "
                                                        : "") +
                    formal.name.text);
  return listNames(shown);
}

} // namespace

bool ArgumentBinder::reportUnknownKeywords() {
  std::vector<std::string> names = getNames(formals);
  bool found = false;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Actual &actual = call.args[i];
    if (used[i] || actual.kind != ArgKind::Keyword ||
        std::count(names.begin(), names.end(), actual.name->text))
      continue;
    found = true;
    Diagnostic &diag = report(Code::BadArgument, actual.loc,
                              "`" + call.name + "` takes no argument `" + actual.name->text + "`");
    diag.note(getName(*call.callee.symbol.decl).loc, "it takes " + listFormals(formals));
    notePassing(diag, call);
    bool isDim = actual.name->text == "dim" || actual.name->text == "axis";
    for (const Formal &formal : formals)
      if (isDim && formal.kind != FormalKind::Value)
        diag.help(std::string("a dimension is named: `") +
                  (formal.kind == FormalKind::Over ? "over" : "along") + " embed`");
    if (std::string help = foreignArgumentHelp(call.name, actual.name->text);
        diag.remedy.empty() && !help.empty())
      diag.help(std::move(help));
    if (diag.remedy.empty())
      suggestName(diag, actual.name->loc, actual.name->text, names);
  }
  return found;
}

bool ArgumentBinder::reportUnused() {
  bool good = true;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Actual &actual = call.args[i];
    if (used[i])
      continue;
    good = false;
    Diagnostic &diag = report(Code::BadArgument, actual.loc,
                              actual.kind == ArgKind::Keyword
                                  ? "`" + call.name + "` is given `" + actual.name->text + "` twice"
                                  : "`" + call.name + "` takes no further argument like this");
    diag.note(getName(*call.callee.symbol.decl).loc, "it takes " + listFormals(formals));
    notePassing(diag, call);
  }
  return good;
}

} // namespace titan::sema
