// Calls of functions and blocks: arguments are bound, the body is inlined, results come back.
//
// A function sees its parameters and what its file declares, nothing of the caller; `over d` makes
// a dimension of the caller's known to it. A block sees dimensions of the model besides, those that
// it declares by `dims` or in the types of its parameters.
#include "compiler/sema/CallArgs.h"
#include "compiler/sema/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

constexpr unsigned deepestCall = 64;

const std::vector<Formal> &formalsOf(const Decl &decl) {
  if (auto *fn = decl.as<FnDecl>())
    return fn->formals;
  return decl.as<BlockDecl>()->formals;
}

} // namespace

Value Elaborator::evalCall(const CallExpr &expr) {
  if (!withinBounds(expr.loc))
    return {};
  constexpr size_t mostArguments = 1000;
  if (expr.args.size() > mostArguments) {
    report(Code::TooLarge, expr.loc,
           "a call has at most " + std::to_string(mostArguments) + " arguments");
    return {};
  }
  bool isOwn = callableNamed(expr.callee) != nullptr;
  if (!isOwn && reportAmbiguous(expr.callee))
    return {};
  bool reshapes = expr.callee.isSimple() && reshapingFunctions().count(expr.callee.last().text);
  if (reshapes && !isOwn && !library.lookup(*frame->unit, expr.callee))
    return callReshaping(expr);
  if (!isOwn && !calleeOf(expr.callee)) {
    reportUnknownCallee(expr);
    return {};
  }
  std::optional<Call> call = readCall(expr);
  if (!call)
    return {};
  bool isPart = std::any_of(call->args.begin(), call->args.end(),
                            [](const Actual &actual) { return actual.isOpen; });
  return isPart ? partOf(std::move(*call)) : invoke(*call);
}

Value Elaborator::invoke(const Call &call) {
  if (call.callee.symbol)
    return callDecl(call);
  CallArgs args(*this, call);
  return args.hasErrors() ? Value() : (this->*builtins().at(call.callee.builtin))(args);
}

void Elaborator::reportUnknownCallee(const CallExpr &expr) {
  const Path &callee = expr.callee;
  if (Symbol symbol = library.lookup(*frame->unit, callee)) {
    report(Code::NotCallable, callee.loc,
           "`" + callee.text() + "` is a " + kindOf(*symbol.decl) + " and cannot be called")
        .note(nameOf(*symbol.decl).loc, "declared here");
    return;
  }
  if (Binding *binding = callee.isSimple() ? lookup(callee.last()) : nullptr) {
    if (!binding->value.isError())
      report(Code::NotCallable, callee.loc,
             "`" + callee.text() + "` is " + binding->value.describe() + " and cannot be called")
          .note(binding->loc, "`" + callee.text() + "` comes from here");
    return;
  }
  if (Symbol hidden = library.lookupPrivate(*frame->unit, callee)) {
    report(Code::PrivateName, callee.loc,
           "`" + callee.last().text + "` is private to the file that declares it")
        .note(nameOf(*hidden.decl).loc, "declared here")
        .help("a name that begins with `_` is not imported");
    return;
  }
  if (reportMember(callee))
    return;
  Diagnostic &diag = report(Code::UnknownFunction, callee.loc,
                            "no function or block is named `" + callee.text() + "` here");
  bool isMeant = library.noteImports(diag, *frame->unit, callee) ||
                 (!diags.isFull() && library.offerImport(diag, *frame->unit, callee));
  auto candidates = [&] {
    std::vector<std::string> all = library.names(*frame->unit);
    all.insert(all.end(), reshapingFunctions().begin(), reshapingFunctions().end());
    for (const auto &entry : builtins())
      all.push_back(entry.first);
    return all;
  };
  if (!isMeant)
    propose(diag, callee, candidates);
  for (const Arg &arg : expr.args) // its own mistakes are worth a report too
    if (arg.value)
      eval(*arg.value);
}

/// Calls are inlined, so what a body names must not lead back to it. A body may well be entered
/// again by a value that was passed to it: `Residual(_, Residual(_, f))` ends. What never does is a
/// value that is passed to itself.
bool Elaborator::reportRecursion(const Call &call, const Frame *namedIn) {
  const Frame *again = namedIn;
  while (again && again->decl != call.callee.symbol.decl)
    again = again->sees;
  bool isPassedToItself = false;
  for (const Frame *at = frame; at && call.through; at = at->caller)
    isPassedToItself |= at->through == call.through.get();
  if (!again && !isPassedToItself)
    return false;
  std::string name = call.callee.name(), cycle = name;
  for (const Frame *at = namedIn; again && at != again->sees; at = at->sees)
    cycle = nameOf(*at->decl).text + " -> " + cycle;
  bool isDirect = again == namedIn || !again;
  report(Code::RecursiveCall, call.loc,
         "`" + name + "` calls itself" + (isDirect ? "" : ": " + cycle))
      .help("calls are inlined, so they must end: write layers with `repeat`");
  return true;
}

Value Elaborator::callDecl(const Call &call) {
  const Symbol &symbol = call.callee.symbol;
  Frame *namedIn = call.through ? frameOf(*call.through) : frame;
  if (reportRecursion(call, namedIn))
    return {};
  if (depth >= deepestCall) {
    report(Code::RecursiveCall, call.loc,
           "calls nest deeper than " + std::to_string(deepestCall) + ": `" + call.callee.name() +
               "` is one too many");
    return {};
  }
  Scope scope;
  Frame callee{symbol.decl, symbol.unit, &scope,   frame,
               call.loc,    namedIn,     ++frames, call.through.get()};
  if (!bindFormals(formalsOf(*symbol.decl), call, callee))
    return {};
  ++depth;
  Frame *caller = frame;
  std::string outerVariable = variable;
  size_t declared = declarations, errors = diags.errorReports();
  frame = &callee;
  Value result = runBody(callee, call);
  frame = caller;
  variable = outerVariable;
  --depth;
  bool namesNothing = !callee.prefix.empty() && declarations == declared;
  if (namesNothing && !call.through && diags.errorReports() == errors) {
    report(Code::BadArgument, call.loc,
           "`named` has no effect here: this call of `" + call.name + "` makes no parameters")
        .help("leave it out");
    return {};
  }
  return result;
}

Value Elaborator::runBody(Frame &callee, const Call &call) {
  if (auto *block = callee.decl->as<BlockDecl>()) {
    elaborate(block->body);
    return collectResults(block->results, callee);
  }
  auto *fn = callee.decl->as<FnDecl>();
  if (fn->value)
    return eval(*fn->value);
  elaborate(*fn->body);
  if (callee.returned)
    return *callee.returned;
  if (!fn->results.empty())
    return collectResults(fn->results, callee);
  report(Code::NoResult, fn->name.loc, "function `" + call.callee.name() + "` returns nothing")
      .help("end its body in `return value`");
  return {};
}

Value Elaborator::collectResults(const std::vector<Name> &results, Frame &callee) {
  bool isWrong = callee.declaresWrongly || (results.empty() && callee.returned);
  if (isWrong) // that was said
    return {};
  if (results.empty()) {
    const Name &name = nameOf(*callee.decl);
    report(Code::NoResult, name.loc, "block `" + name.text + "` names no result")
        .help("name what it gives after `->`");
    return {};
  }
  std::vector<Value> values;
  for (const Name &name : results) {
    if (Binding *binding = callee.scope->find(name.text)) {
      values.push_back(binding->value);
      continue;
    }
    reportUnknownName(name, name.loc);
    values.push_back({});
  }
  return values.size() == 1 ? values[0] : Value::ofList(std::move(values));
}

} // namespace titan::sema
