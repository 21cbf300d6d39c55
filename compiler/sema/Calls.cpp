// Calls of functions and blocks: arguments are bound, the body is inlined, results come back.
//
// A function sees its parameters and what its file declares, nothing of the caller; `over d` makes
// a dimension of the caller's known to it. A block sees dimensions of the model besides, those that
// it declares by `dims` or in the types of its parameters.
#include "compiler/sema/CallArgs.h"
#include "compiler/sema/Elaborator.h"
#include "compiler/sema/Suggest.h"

#include <algorithm>
#include <cctype>

namespace titan::sema {

using namespace syntax;

namespace {

constexpr unsigned deepestCall = 64;

const std::vector<Formal> &formalsOf(const Decl &decl) {
  if (auto *fn = decl.as<FnDecl>())
    return fn->formals;
  return decl.as<BlockDecl>()->formals;
}

/// `over d, e`.
bool takesSeveralDims(const Arg &arg) {
  bool takesDims = arg.kind == ArgKind::Over || arg.kind == ArgKind::Along;
  return takesDims && arg.dims && arg.dims->from.size() > 1;
}

} // namespace

Value Elaborator::evalCall(const CallExpr &expr, Expected) {
  if (!withinBounds(expr.loc))
    return {};
  constexpr size_t mostArguments = 1000;
  if (expr.args.size() > mostArguments) {
    report(Code::TooLarge, expr.loc,
           "a call has at most " + std::to_string(mostArguments) + " arguments");
    return {};
  }
  if (reportAmbiguous(expr.callee))
    return {};
  Symbol symbol = library.lookup(*frame->unit, expr.callee);
  if (symbol && (symbol.decl->is<FnDecl>() || symbol.decl->is<BlockDecl>()))
    return callDecl(symbol, expr);
  if (symbol) {
    report(Code::NotCallable, expr.callee.loc,
           "`" + expr.callee.text() + "` is a " + kindOf(*symbol.decl) + " and cannot be called")
        .note(nameOf(*symbol.decl).loc, "declared here");
    return {};
  }
  static const std::set<std::string> reshaping = {"split", "merge", "concat", "top_k"};
  if (expr.callee.isSimple() && reshaping.count(expr.callee.last().text))
    return callReshaping(expr);
  auto builtin =
      expr.callee.isSimple() ? builtins().find(expr.callee.last().text) : builtins().end();
  if (builtin != builtins().end()) {
    CallArgs args(*this, expr);
    if (args.hasErrors())
      return {};
    return (this->*builtin->second)(args);
  }
  if (Symbol hidden = library.lookupPrivate(*frame->unit, expr.callee)) {
    report(Code::PrivateName, expr.callee.loc,
           "`" + expr.callee.last().text + "` is private to the file that declares it")
        .note(nameOf(*hidden.decl).loc, "declared here")
        .help("a name that begins with `_` is not imported");
    return {};
  }
  Diagnostic &diag = report(Code::UnknownFunction, expr.callee.loc,
                            "no function or block is named `" + expr.callee.text() + "` here");
  bool isMeant = library.noteImports(diag, *frame->unit, expr.callee);
  auto candidates = [&] {
    std::vector<std::string> all = library.names(*frame->unit);
    all.insert(all.end(), reshaping.begin(), reshaping.end());
    for (const auto &entry : builtins())
      all.push_back(entry.first);
    return all;
  };
  if (!isMeant)
    propose(diag, expr.callee, candidates);
  for (const Arg &arg : expr.args) // its own mistakes are worth a report too
    if (arg.value)
      eval(*arg.value);
  return {};
}

bool Elaborator::reportAmbiguous(const Path &path) {
  std::vector<std::string> owners = library.ambiguous(*frame->unit, path);
  if (owners.empty())
    return false;
  report(Code::AmbiguousName, path.loc,
         "`" + path.text() + "` is declared by several imports: " + listNames(owners))
      .help("say which one: `" + owners[0] + "`");
  return true;
}

Value Elaborator::callDecl(const Symbol &symbol, const CallExpr &expr) {
  for (const Frame *at = frame; at; at = at->caller)
    if (at->decl == symbol.decl) {
      std::string name = "`" + nameOf(*symbol.decl).text + "`";
      report(Code::RecursiveCall, expr.loc,
             at == frame ? name + " calls itself" : name + " is called again by what it calls")
          .help("calls are inlined, so they must end: write layers with `repeat`");
      return {};
    }
  if (depth >= deepestCall) {
    report(Code::RecursiveCall, expr.loc,
           "calls nest deeper than " + std::to_string(deepestCall) + ": `" +
               nameOf(*symbol.decl).text + "` is one too many");
    return {};
  }
  if (symbol.decl->is<BlockDecl>() && frame->decl && frame->decl->is<FnDecl>()) {
    report(Code::NotCallable, expr.callee.loc,
           "a function cannot call a block, which has parameters")
        .help("make the caller a block");
    return {};
  }
  Scope scope;
  Frame callee{symbol.decl, symbol.unit, &scope, frame, expr.loc, {}, {}};
  if (!bindFormals(formalsOf(*symbol.decl), expr, callee))
    return {};
  ++depth;
  Frame *caller = frame;
  std::string outerVariable = variable;
  frame = &callee;
  Value result = runBody(callee, expr);
  frame = caller;
  variable = outerVariable;
  --depth;
  return result;
}

Value Elaborator::runBody(Frame &callee, const CallExpr &expr) {
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
  report(Code::NoResult, fn->name.loc, "function `" + fn->name.text + "` returns nothing")
      .help("end its body in `return value`");
  return {};
}

Value Elaborator::collectResults(const std::vector<Name> &results, Frame &callee) {
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

/// `Block(x, named = "encoder")`: the parameters of this call are called `encoder.w`, so that a
/// block can be called more than once. A parameter of that name of the block's own goes first.
bool Elaborator::bindCallName(const std::vector<Formal> &formals, const CallExpr &expr,
                              std::vector<bool> &used, Frame &callee) {
  bool isFormal = std::any_of(formals.begin(), formals.end(),
                              [](const Formal &formal) { return formal.name.text == "named"; });
  if (isFormal || !callee.decl->is<BlockDecl>())
    return true;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const Arg &arg = expr.args[i];
    if (arg.kind != ArgKind::Keyword || arg.name->text != "named" || !arg.value)
      continue;
    used[i] = true;
    Value name = eval(*arg.value);
    auto isPart = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    bool legal = name.kind == Value::Kind::String && !name.text.empty() &&
                 std::all_of(name.text.begin(), name.text.end(), isPart);
    if (!legal) {
      if (!name.isError())
        report(Code::BadArgument, arg.value->loc,
               "`named` takes a string of letters, digits and `_`, not " + name.print());
      return false;
    }
    callee.prefix = name.text + ".";
  }
  return true;
}

bool Elaborator::bindFormals(const std::vector<Formal> &formals, const CallExpr &expr,
                             Frame &callee) {
  std::vector<bool> used(expr.args.size());
  bool good = bindCallName(formals, expr, used, callee);
  // Dimensions first: the types of the others may mention them.
  for (const Formal &formal : formals)
    if (formal.kind != FormalKind::Value)
      good &= bindDimFormal(formal, expr, used, callee);
  for (const Formal &formal : formals)
    if (formal.kind == FormalKind::Value)
      good &= bindValueFormal(formal, expr, used, callee);
  // What is left over often is what seems to be missing: one message says enough.
  return good && reportUnusedArgs(formals, expr, used, callee);
}

bool Elaborator::bindDimFormal(const Formal &formal, const CallExpr &expr, std::vector<bool> &used,
                               Frame &callee) {
  ArgKind wanted = formal.kind == FormalKind::Over ? ArgKind::Over : ArgKind::Along;
  // Until it is known which it is: defaults of arguments may name it, and would be wrong as well.
  callee.scope->define(formal.name.text, {{}, {}, true, formal.name.loc, "dimension"});
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const Arg &arg = expr.args[i];
    if (used[i] || arg.kind != wanted || !arg.dims)
      continue;
    used[i] = true;
    std::vector<DimId> ids = dimsAfter(arg);
    if (ids.empty())
      return false;
    Value size = ids.size() == 1 ? Value::ofInt(model.dims[ids[0]].size) : Value::none();
    callee.scope->define(formal.name.text, {size, ids, true, arg.loc, "dimension"});
    return true;
  }
  const char *word = formal.kind == FormalKind::Over ? "over" : "along";
  report(Code::ArgumentMissing, expr.loc,
         "`" + expr.callee.text() + "` needs `" + word + " " + formal.name.text +
             "`: the dimension it works " + word)
      .note(formal.name.loc, "declared here");
  return false;
}

bool Elaborator::bindValueFormal(const Formal &formal, const CallExpr &expr,
                                 std::vector<bool> &used, Frame &callee) {
  std::optional<size_t> position;
  for (size_t i = 0; i < expr.args.size() && !position; ++i)
    if (!used[i] && expr.args[i].kind == ArgKind::Keyword &&
        expr.args[i].name->text == formal.name.text)
      position = i;
  for (size_t i = 0; i < expr.args.size() && !position; ++i)
    if (!used[i] && expr.args[i].kind == ArgKind::Positional)
      position = i;
  Value value;
  Location at = formal.loc;
  if (position) {
    const Arg &arg = expr.args[*position];
    used[*position] = true;
    at = arg.loc;
    if (!arg.value) {
      report(Code::BadArgument, arg.loc, "a value is needed here, not dimensions");
      return false;
    }
    value = eval(*arg.value);
  } else if (formal.defaultValue) {
    Frame *caller = frame;
    frame = &callee; // a default may use the parameters before it
    value = eval(*formal.defaultValue);
    frame = caller;
  } else {
    Diagnostic &diag =
        report(Code::ArgumentMissing, expr.loc,
               "`" + expr.callee.text() + "` needs a value for `" + formal.name.text + "`");
    diag.note(formal.name.loc, "declared here, without a default");
    if (std::any_of(expr.args.begin(), expr.args.end(), takesSeveralDims))
      diag.help("after `over` or `along`, every bare name is one more dimension: write `" +
                formal.name.text + " = ...`");
    return false;
  }
  if (!value.isError())
    checkFormalType(formal, value, at, callee);
  bool isNumber = value.isInt();
  callee.scope->define(formal.name.text, {value, {}, isNumber, at, "argument"});
  return !value.isError();
}

/// Dimensions in the type of a block's parameter are the model's; the argument must have exactly
/// those. A function is polymorphic: the argument must have them among others.
void Elaborator::checkFormalType(const Formal &formal, Value &value, Location at, Frame &callee) {
  if (!formal.type.dims)
    return;
  if (!expectTensor(value, at, ("`" + formal.name.text + "`").c_str())) {
    value = {};
    return;
  }
  Frame *caller = frame;
  frame = &callee;
  for (const DimRef &ref : formal.type.dims->dims) {
    const Name &name = ref.dim.last();
    if (callee.scope->find(name.text))
      continue;
    if (Binding *outer = findDimInCallers(name.text, &callee)) {
      asDims(name.text, *outer, name.loc);
      callee.scope->define(name.text, *outer);
    }
  }
  std::optional<DimSet> declared = dimSet(*formal.type.dims);
  frame = caller;
  if (!declared) {
    value = {};
    return;
  }
  DimSet actual = typeOf(value).dims;
  bool fits =
      callee.decl->is<FnDecl>() ? actual.containsAll(*declared) : actual.sameDims(*declared);
  if (fits)
    return;
  report(Code::ArgumentDimensionsDiffer, at,
         "`" + formal.name.text + "` of `" + nameOf(*callee.decl).text + "` has " +
             print(*declared) + ", but this has " + print(actual))
      .note(formal.loc, "declared here");
  value = {};
}

bool Elaborator::reportUnusedArgs(const std::vector<Formal> &formals, const CallExpr &expr,
                                  const std::vector<bool> &used, const Frame &callee) {
  bool good = true;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const Arg &arg = expr.args[i];
    if (used[i])
      continue;
    good = false;
    std::vector<std::string> names;
    for (const Formal &formal : formals)
      names.push_back(formal.name.text);
    Diagnostic &diag =
        report(Code::BadArgument, arg.loc,
               "`" + expr.callee.text() + "` takes no " +
                   (arg.kind == ArgKind::Keyword ? "argument `" + arg.name->text + "`"
                                                 : std::string("further argument like this")));
    diag.note(nameOf(*callee.decl).loc, "it takes " + listNames(names));
    if (arg.kind == ArgKind::Keyword)
      proposeName(diag, arg.name->loc, arg.name->text, names);
  }
  return good;
}

} // namespace titan::sema
