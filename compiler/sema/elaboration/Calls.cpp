#include "compiler/sema/elaboration/ArgumentBinder.h"
#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/modules/Suggest.h"
#include "compiler/syntax/ForeignNames.h"

#include <algorithm>
#include <utility>

namespace titan::sema {

using namespace syntax;

namespace {

constexpr unsigned maxCallDepth = 64;

} // namespace

Value Calls::evalCall(const CallExpr &expr) {
  if (!elaboration.budget.withinBounds(expr.loc))
    return {};
  constexpr size_t maxArguments = 1000;
  if (expr.args.size() > maxArguments) {
    report(Code::TooLarge, expr.loc,
           "a call has at most " + std::to_string(maxArguments) + " arguments");
    return {};
  }
  bool isCallableValue = elaboration.callables.callableNamed(expr.callee) != nullptr;
  if (!isCallableValue && elaboration.callables.reportAmbiguous(expr.callee))
    return {};
  bool reshapes = expr.callee.isSimple() && Reshaping::functions().count(expr.callee.last().text);
  if (reshapes && !isCallableValue && !library.lookup(*context.frame->unit, expr.callee))
    return elaboration.reshaping.call(expr);
  if (!isCallableValue && !elaboration.callables.findCallee(expr.callee)) {
    reportUnknownCallee(expr);
    return {};
  }
  std::optional<Call> call = elaboration.callables.readCall(expr);
  return call ? dispatch(std::move(*call)) : Value();
}

Value Calls::dispatch(Call call) {
  bool isPartial = std::any_of(call.args.begin(), call.args.end(),
                               [](const Actual &actual) { return actual.isPlaceholder; });
  if (isPartial)
    return elaboration.callables.partialApplication(std::move(call));
  if (call.callee.symbol)
    return callDecl(call);
  const bool isConstant = context.isConstant;
  context.isConstant |= call.callee.builtin == "stop_gradient";
  Value value = elaboration.builtins.call(call);
  context.isConstant = isConstant;
  return value;
}

Value Calls::callValue(const std::shared_ptr<const Callable> &callee, const Actual &argument,
                       const Value &value) {
  Actual given = argument;
  given.kind = ArgKind::Positional;
  given.value = value;
  return callValue(callee, {std::move(given)}, argument.loc);
}

Value Calls::callValue(const std::shared_ptr<const Callable> &callee, std::vector<Actual> arguments,
                       Location at) {
  if (!elaboration.budget.withinBounds(at))
    return {};
  std::optional<Call> call = elaboration.callables.fill(callee, std::move(arguments), at);
  return call ? dispatch(std::move(*call)) : Value();
}

void Calls::reportUnknownCallee(const CallExpr &expr) {
  const Path &callee = expr.callee;
  if (Symbol symbol = library.lookup(*context.frame->unit, callee)) {
    report(Code::NotCallable, callee.loc,
           "`" + callee.text() + "` is a " + getKindName(*symbol.decl) + " and cannot be called")
        .note(getName(*symbol.decl).loc, "declared here");
    return;
  }
  if (Binding *binding = callee.isSimple() ? lookup(callee.last()) : nullptr) {
    if (!binding->value.isError())
      report(Code::NotCallable, callee.loc,
             "`" + callee.text() + "` is " + binding->value.describe() + " and cannot be called")
          .note(binding->loc, "`" + callee.text() + "` comes from here");
    return;
  }
  if (Symbol hidden = library.lookupPrivate(*context.frame->unit, callee)) {
    report(Code::PrivateName, callee.loc,
           "`" + callee.last().text + "` is private to the file that declares it")
        .note(getName(*hidden.decl).loc, "declared here")
        .help("a name that begins with `_` is not imported");
    return;
  }
  if (elaboration.reports.member(callee))
    return;
  Diagnostic &diag = report(Code::UnknownFunction, callee.loc,
                            "no function or block is named `" + callee.text() + "` here");
  bool isMeant = library.noteImports(diag, *context.frame->unit, callee) ||
                 (!diags.isFull() && library.suggestImport(diag, *context.frame->unit, callee));
  auto candidates = [&] {
    std::vector<std::string> all = library.names(*context.frame->unit);
    all.insert(all.end(), Reshaping::functions().begin(), Reshaping::functions().end());
    for (const auto &entry : Builtins::table())
      all.push_back(entry.first);
    return all;
  };
  const std::vector<std::string> known = isMeant ? std::vector<std::string>() : candidates();
  bool isInTitan = std::count(known.begin(), known.end(), callee.last().text) != 0;
  if (isInTitan) // `torch.tanh`
    diag.fix(callee.loc, callee.last().text);
  else if (std::string help = foreignHelp(callee.last().text); !isMeant && !help.empty())
    diag.help(std::move(help));
  else if (!isMeant && !callee.isSimple() && !diags.isFull() && // `F.relu`
           library.suggestImport(diag, *context.frame->unit, Path{{callee.last()}, callee.loc}))
    diag.help("call `" + callee.last().text + "(...)`; " + diag.remedy);
  else if (!isMeant)
    elaboration.reports.suggest(diag, callee, candidates);
  for (const Arg &arg : expr.args) // reports errors of the arguments, too
    if (arg.value)
      eval(*arg.value);
}

/// Calls are inlined, so a body must not lead back to itself. A body may be entered again through a
/// value that was passed to it: `Residual(_, Residual(_, f))` terminates. A value passed to itself
/// does not.
bool Calls::reportRecursion(const Call &call, const Decl *body, const Frame *namedIn) {
  const Frame *again = namedIn;
  while (again && again->decl != body)
    again = again->lexicalParent;
  bool isPassedToItself = false;
  for (const Frame *at = context.frame; at && call.calleeValue; at = at->caller)
    isPassedToItself |= at->calleeValue == call.calleeValue.get();
  if (!again && !isPassedToItself)
    return false;
  std::string name = call.callee.name(), cycle = name;
  for (const Frame *at = namedIn; again && at != again->lexicalParent; at = at->lexicalParent)
    cycle = getName(*at->decl).text + " -> " + cycle;
  bool isDirect = again == namedIn || !again;
  report(Code::RecursiveCall, call.loc,
         "`" + name + "` calls itself" + (isDirect ? "" : ": " + cycle))
      .help("calls are inlined, so they must end: write layers with `repeat`");
  return true;
}

Value Calls::callDecl(const Call &call) {
  const Symbol symbol = elaboration.components.findBody(call.callee.symbol);
  if (!symbol)
    return {};
  Frame *namedIn =
      call.calleeValue ? elaboration.callables.findFrame(*call.calleeValue) : context.frame;
  if (reportRecursion(call, symbol.decl, namedIn))
    return {};
  if (depth >= maxCallDepth) {
    report(Code::RecursiveCall, call.loc,
           "calls nest deeper than " + std::to_string(maxCallDepth) + ": `" + call.callee.name() +
               "` is one too many");
    return {};
  }
  Scope scope;
  Component component;
  const bool isModel = symbol.decl->is<ModelDecl>();
  // A model sees no dimensions of its caller.
  Frame callee{symbol.decl, symbol.unit,
               &scope,      context.frame,
               call.loc,    isModel ? nullptr : namedIn,
               ++frames,    call.calleeValue.get()};
  callee.component = isModel ? &component : nullptr;
  const bool isBound =
      isModel ? elaboration.components.bind(call, callee)
              : ArgumentBinder(elaboration, *getFormals(*symbol.decl), call, callee).bind();
  return isBound ? inlineCall(callee, call) : Value();
}

Value Calls::inlineCall(Frame &callee, const Call &call) {
  size_t declared = elaboration.parameters.declarations, errors = diags.errorReports();
  std::string outerVariable = context.variable;
  Frame *caller = std::exchange(context.frame, &callee);
  ++depth;
  Value result = runBody(callee, call);
  --depth;
  context.frame = caller;
  context.variable = outerVariable;
  if (callee.component)
    elaboration.components.exposeDims(result, call.loc);
  bool namesNothing = !callee.prefix.empty() && elaboration.parameters.declarations == declared;
  if (namesNothing && !call.calleeValue && diags.errorReports() == errors) {
    report(Code::BadArgument, call.loc,
           "`named` has no effect here: this call of `" + call.name + "` creates no parameters")
        .help("leave it out");
    return {};
  }
  return result;
}

Value Calls::runBody(Frame &callee, const Call &call) {
  if (auto *block = callee.decl->as<BlockDecl>()) {
    elaboration.statements.elaborate(block->body);
    return collectResults(block->results, callee);
  }
  if (auto *called = callee.decl->as<ModelDecl>()) {
    const size_t errorsBefore = diags.errorReports();
    elaboration.statements.elaborate(called->body);
    const bool isWrong = callee.component->outputs.empty() && diags.errorReports() != errorsBefore;
    return isWrong ? Value() : elaboration.components.collectOutputs(call, callee);
  }
  auto *fn = callee.decl->as<FnDecl>();
  if (fn->value)
    return eval(*fn->value);
  elaboration.statements.elaborate(*fn->body);
  if (callee.returned)
    return *callee.returned;
  if (!fn->results.empty())
    return collectResults(fn->results, callee);
  report(Code::NoResult, fn->name.loc, "function `" + call.callee.name() + "` returns nothing")
      .help("end its body in `return value`");
  return {};
}

Value Calls::collectResults(const std::vector<Name> &results, Frame &callee) {
  bool isWrong = callee.hasErroneousParameter || (results.empty() && callee.returned);
  if (isWrong) // reported already
    return {};
  if (results.empty()) {
    const Name &name = getName(*callee.decl);
    report(Code::NoResult, name.loc, "block `" + name.text + "` declares no results")
        .help("declare its results after `->`");
    return {};
  }
  std::vector<Value> values;
  for (const Name &name : results) {
    if (Binding *binding = callee.scope->find(name.text)) {
      values.push_back(binding->value);
      continue;
    }
    elaboration.reports.unknownName(name);
    values.push_back({});
  }
  return values.size() == 1 ? values[0] : Value::ofList(std::move(values));
}

} // namespace titan::sema
