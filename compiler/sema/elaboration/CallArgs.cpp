#include "compiler/sema/elaboration/CallArgs.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/syntax/ForeignNames.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

CallArgs::CallArgs(Elaboration &elaboration, const Call &call)
    : ElaboratorComponent(elaboration), call(call) {
  for (const Actual &actual : call.args)
    read(actual);
}

/// The value of an argument. A name that denotes dimensions only has none: functions such as
/// `index` read it by dim().
Value CallArgs::evaluate(const Actual &actual) {
  if (actual.value)
    return *actual.value;
  auto *asName = actual.arg->value->as<NameExpr>();
  Binding *binding = asName && asName->path.isSimple() ? lookup(asName->path.last()) : nullptr;
  bool isDimOnly = binding && binding->value.kind == Value::Kind::None && !binding->dims.empty();
  return isDimOnly ? Value::none() : eval(*actual.arg->value);
}

void CallArgs::read(const Actual &actual) {
  if (actual.kind == ArgKind::Over || actual.kind == ArgKind::Along)
    return readDims(actual);
  // A callable may be a block, to which these apply, or a function.
  if (call.calleeValue && Callables::isCallOption(actual))
    return;
  if (!actual.arg->value) {
    // `index(seq)`, `expand(x, ffn)`: a dimension name parses as a value; this is `x as y`.
    report(Code::BadArgument, actual.loc, "`" + name() + "` takes no new dimensions here");
    errors = true;
    return;
  }
  Value value = evaluate(actual);
  Location at = actual.arg->value->loc;
  errors |= value.isError();
  if (actual.kind == ArgKind::Keyword) {
    auto [known, fresh] = keywords.try_emplace(actual.name->text, value, at);
    if (!fresh)
      report(Code::BadArgument, actual.loc,
             "`" + name() + "` is given `" + actual.name->text + "` twice")
          .note(known->second.second, "it was given here");
    errors |= !fresh;
    return;
  }
  values.push_back(std::move(value));
  valueLocs.push_back(at);
}

void CallArgs::readDims(const Actual &actual) {
  bool isOver = actual.kind == ArgKind::Over;
  std::vector<DimId> &dims = isOver ? over : along;
  Location &loc = isOver ? overLoc : alongLoc;
  if (loc.isValid()) {
    const std::string word = isOver ? "over" : "along";
    report(Code::BadArgument, actual.loc, "`" + name() + "` is given `" + word + "` twice")
        .note(loc, "it was given here")
        .help("list the dimensions after one `" + word + "`");
    errors = true;
    return;
  }
  loc = actual.loc;
  dims = actual.dims ? *actual.dims : elaboration.dims.dimsAfter(*actual.arg);
  errors |= dims.empty();
  if (!actual.arg->dims->to.empty()) {
    report(Code::BadArgument, actual.arg->dims->loc, "`" + name() + "` creates no dimension");
    errors = true;
  }
}

std::optional<DimId> CallArgs::dim(size_t i) {
  size_t position = 0;
  for (const Actual &actual : call.args) {
    if (actual.kind != ArgKind::Positional || position++ != i)
      continue;
    if (actual.dims && actual.dims->size() == 1)
      return actual.dims->front();
    if (auto *asName = actual.arg->value->as<NameExpr>(); asName && !actual.value)
      return resolveDim(asName->path);
  }
  report(Code::NotADimension, valueLocs[i], "`" + name() + "` needs a dimension here");
  return std::nullopt;
}

bool CallArgs::expect(size_t least, size_t most, bool wantsOver, bool wantsAlong,
                      const std::vector<std::string> &known) {
  auto reportMisuse = [&](Location at, std::string message) -> Diagnostic & {
    errors = true;
    Diagnostic &diag = report(Code::BadArgument, at, "`" + name() + "` " + message);
    if (call.calleeValue)
      diag.note(call.calleeValue->loc, "`" + name() + "` is passed as an argument here");
    return diag;
  };
  bool lacksDims = (wantsOver && over.empty()) || (wantsAlong && along.empty());
  // A surplus value is often a dimension without `over`, or a value passed by a wrong keyword; one
  // message suffices.
  auto isUnknown = [&](const auto &entry) {
    return std::find(known.begin(), known.end(), entry.first) == known.end();
  };
  bool hasUnknownKeyword = std::any_of(keywords.begin(), keywords.end(), isUnknown);
  if ((values.size() < least && !hasUnknownKeyword) || (values.size() > most && !lacksDims)) {
    std::string count = least == most ? std::to_string(least)
                                      : std::to_string(least) + " to " + std::to_string(most);
    reportMisuse(call.loc, "takes " + count + (most == 1 ? " value" : " values") + ", here are " +
                               std::to_string(values.size()));
  }
  if (wantsOver && over.empty() && !hasUnknownKeyword)
    reportMisuse(call.loc, "needs `over` and a dimension");
  if (!wantsOver && !over.empty())
    reportMisuse(overLoc, "takes no `over`");
  if (wantsAlong && along.empty() && !hasUnknownKeyword)
    reportMisuse(call.loc, "needs `along` and a dimension");
  if (!wantsAlong && !along.empty())
    reportMisuse(alongLoc, "takes no `along`");
  if (wantsAlong && along.size() > 1)
    reportMisuse(alongLoc, "works along one dimension, here are " + std::to_string(along.size()));
  for (const auto &[key, entry] : keywords) {
    if (std::find(known.begin(), known.end(), key) != known.end())
      continue;
    Diagnostic &diag = reportMisuse(entry.second, "takes no argument `" + key + "`");
    bool isDim = key == "dim" || key == "axis";
    if (std::string help = foreignArgumentHelp(name(), key); !help.empty())
      diag.help(std::move(help));
    else if (isDim && (wantsOver || wantsAlong))
      diag.help(std::string("a dimension is named: `") + (wantsOver ? "over" : "along") +
                " embed`");
    else if (!known.empty())
      diag.help("it takes " + listNames(known));
  }
  return !errors;
}

bool CallArgs::expectSingleOver() {
  if (over.size() > 1)
    report(Code::BadArgument, overLoc,
           "`" + name() + "` works over one dimension, here are " + std::to_string(over.size()));
  return over.size() == 1;
}

const Value *CallArgs::keyword(const std::string &key) const {
  auto found = keywords.find(key);
  return found == keywords.end() ? nullptr : &found->second.first;
}

Location CallArgs::keywordLoc(const std::string &key) const {
  auto found = keywords.find(key);
  return found == keywords.end() ? call.loc : found->second.second;
}

std::optional<double> CallArgs::number(const std::string &key, double fallback) {
  const Value *value = keyword(key);
  if (!value)
    return fallback;
  if (value->isNumber())
    return value->number();
  report(Code::BadArgument, keywordLoc(key),
         "`" + key + "` must be a number, not " + value->describe());
  return std::nullopt;
}

std::optional<std::vector<double>> CallArgs::numbers(const std::string &key) {
  std::vector<double> result;
  const Value *value = keyword(key);
  if (!value || value->kind == Value::Kind::None)
    return result;
  if (!value->isNumberList()) {
    report(Code::BadArgument, keywordLoc(key),
           "`" + key + "` must be a list of numbers, not " + value->describe())
        .help("write it out, `[1, 0.5]`, or compute it, `0.5 ** range(2)`");
    return std::nullopt;
  }
  for (const Value &element : value->elements)
    result.push_back(element.number());
  return result;
}

std::optional<std::string> CallArgs::word(const std::string &key,
                                          const std::vector<std::string> &legal,
                                          const std::string &fallback) {
  const Value *value = keyword(key);
  if (!value)
    return fallback;
  std::string given = value->print();
  if ((value->kind == Value::Kind::Word || value->kind == Value::Kind::None) &&
      std::find(legal.begin(), legal.end(), given) != legal.end())
    return given;
  report(Code::BadArgument, keywordLoc(key), "`" + key + "` cannot be " + given)
      .help("it is one of " + listNames(legal));
  return std::nullopt;
}

} // namespace titan::sema
