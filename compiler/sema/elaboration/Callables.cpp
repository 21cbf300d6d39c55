#include "compiler/sema/elaboration/Elaboration.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>
#include <cctype>

namespace titan::sema {

using namespace syntax;

namespace {

constexpr unsigned maxCallableDepth = 32; // arguments of arguments

/// The nesting depth of callables in a value.
unsigned computeDepth(const Value &value) {
  if (value.isCallable())
    return value.callable->depth;
  unsigned depth = 0;
  for (const Value &element : value.elements)
    depth = std::max(depth, computeDepth(element));
  return depth;
}

bool isCallable(const Decl &decl) {
  return decl.is<FnDecl>() || decl.is<BlockDecl>() || decl.is<ModelDecl>() ||
         decl.is<ModelAliasDecl>();
}

bool isPlaceholder(const Arg &arg) {
  auto *name = arg.value ? arg.value->as<NameExpr>() : nullptr;
  return name && name->path.isSimple() && name->path.last().text == "_";
}

} // namespace

bool Callables::reportAmbiguous(const Path &path) {
  std::vector<std::string> owners = library.ambiguous(*context.frame->unit, path);
  if (owners.empty())
    return false;
  report(Code::AmbiguousName, path.loc,
         "`" + path.text() + "` is declared by several imports: " + listNames(owners))
      .help("qualify the name: `" + owners[0] + "`");
  return true;
}

Callee Callables::findCallee(const Path &path) const {
  Symbol symbol = library.lookup(*context.frame->unit, path);
  if (symbol && isCallable(*symbol.decl))
    return {symbol, {}};
  if (!symbol && path.isSimple() && Builtins::table().count(path.last().text))
    return {{}, path.last().text};
  return {};
}

std::shared_ptr<const Callable> Callables::callableNamed(const Path &path) {
  Binding *binding = path.isSimple() ? lookup(path.last()) : nullptr;
  return binding && binding->value.isCallable() ? binding->value.callable : nullptr;
}

std::vector<unsigned> Callables::enclosingFrames() const {
  std::vector<unsigned> ids;
  for (const Frame *at = context.frame; at; at = at->lexicalParent)
    ids.push_back(at->id);
  return ids;
}

Frame *Callables::findFrame(const Callable &callable) const {
  for (unsigned id : callable.definingFrames)
    for (Frame *at = context.frame; at; at = at->caller) {
      if (at->id == id)
        return at;
    }
  Frame *model = context.frame; // of the arguments of a declaration
  while (model->caller && !model->component)
    model = model->caller;
  return model;
}

Value Callables::makeCallable(Callee callee, std::vector<Actual> given,
                              std::vector<unsigned> definingFrames, Location at) {
  unsigned depth = 1;
  for (const Actual &actual : given)
    if (actual.value)
      depth = std::max(depth, computeDepth(*actual.value) + 1);
  if (depth > maxCallableDepth) {
    report(Code::TooLarge, at,
           "functions are passed as arguments of one another over " +
               std::to_string(maxCallableDepth) + " deep");
    return {};
  }
  return Value::ofCallable(std::make_shared<const Callable>(
      Callable{std::move(callee), std::move(given), std::move(definingFrames), at, depth}));
}

std::optional<Value> Callables::evalCallee(const NameExpr &expr) {
  if (expr.path.isSimple() && Reshaping::functions().count(expr.path.last().text)) {
    report(Code::NotAValue, expr.loc,
           "`" + expr.path.text() + "` can only be called: a call states its dimensions")
        .help("write a function that calls it, and pass that function");
    return Value();
  }
  if (Callee callee = findCallee(expr.path))
    return reportAmbiguous(expr.path)
               ? Value()
               : makeCallable(std::move(callee), {}, enclosingFrames(), expr.loc);
  Symbol symbol = library.lookup(*context.frame->unit, expr.path);
  if (!symbol)
    return std::nullopt;
  report(Code::NotAValue, expr.loc,
         "`" + expr.path.text() + "` is a " + getKindName(*symbol.decl) + ", not a value")
      .note(getName(*symbol.decl).loc, "declared here");
  return Value();
}

std::optional<Call> Callables::readCall(const CallExpr &expr) {
  Call call{findCallee(expr.callee), expr.callee.text(), expr.loc, {}};
  call.calleeValue = callableNamed(expr.callee);
  for (const Arg &arg : expr.args)
    call.args.push_back({arg.kind, arg.name, &arg, arg.loc, isPlaceholder(arg)});
  return call.calleeValue ? fill(call.calleeValue, std::move(call.args), expr.loc)
                          : std::optional(std::move(call));
}

std::optional<Call> Callables::fill(const std::shared_ptr<const Callable> &callable,
                                    std::vector<Actual> args, Location at) {
  if (!fillPlaceholders(*callable, args, at))
    return std::nullopt;
  return Call{callable->callee, callable->callee.name(), at, std::move(args), callable};
}

/// Replaces the open arguments of a partial application by `args`, in order or by name.
bool Callables::fillPlaceholders(const Callable &callable, std::vector<Actual> &args, Location at) {
  std::vector<Actual> all;
  size_t next = 0; // the next positional argument; positional arguments come before named ones
  for (const Actual &given : callable.boundArgs) {
    auto sameName = std::find_if(args.begin(), args.end(), [&](const Actual &actual) {
      return given.name && actual.isKeyword(given.name->text);
    });
    if (sameName != args.end() && !given.isPlaceholder) {
      report(Code::BadArgument, sameName->loc, "`" + given.name->text + "` already has a value")
          .note(given.loc, "it was given here");
      return false;
    }
    if (!given.isPlaceholder) {
      all.push_back(given);
      continue;
    }
    if (sameName != args.end()) { // a named open argument that the call names, too
      all.push_back(*sameName);
      args.erase(sameName);
      continue;
    }
    if (next == args.size() || args[next].kind != ArgKind::Positional) {
      report(Code::ArgumentMissing, at,
             "`" + callable.callee.name() +
                 "` is a partial application and needs a value for its open argument")
          .note(given.loc, "the open argument is here");
      return false;
    }
    Actual filled = args[next++];
    filled.kind = given.kind;
    filled.name = given.name;
    all.push_back(std::move(filled));
  }
  // Positional arguments continue after the last bound positional one.
  auto isNamed = [](const Actual &actual) { return actual.kind != ArgKind::Positional; };
  auto rest = args.begin() + static_cast<std::ptrdiff_t>(next);
  auto named = std::find_if(rest, args.end(), isNamed);
  all.insert(all.end(), named, args.end());
  all.insert(std::find_if(all.begin(), all.end(), isNamed), rest, named);
  args = std::move(all);
  return true;
}

/// Evaluates an argument in the current scope. Built-in functions take dimensions by bare name, so
/// a name that may denote a dimension becomes one.
bool Callables::evaluateNow(Actual &actual, bool ofBuiltin) {
  if (actual.isPlaceholder || actual.value || actual.dims)
    return true;
  const Arg &arg = *actual.arg;
  if (arg.dims && arg.kind != ArgKind::Positional) {
    actual.dims = elaboration.dims.dimsAfter(arg);
    return !actual.dims->empty();
  }
  if (!arg.value || arg.along) {
    report(Code::BadArgument, arg.loc, "a value is needed here, not dimensions");
    return false;
  }
  auto *name = arg.value->as<NameExpr>();
  Binding *binding = name && name->path.isSimple() ? lookup(name->path.last()) : nullptr;
  if (ofBuiltin && binding && binding->mayBeDim && arg.kind == ArgKind::Positional &&
      (!binding->dims.empty() || (binding->value.isInt() && binding->value.integer > 0)))
    actual.dims = elaboration.dims.asDims(name->path.last().text, *binding, arg.loc);
  actual.value = eval(*arg.value);
  return !actual.value->isError();
}

Value Callables::partialApplication(Call call) {
  for (Actual &actual : call.args)
    if (!evaluateNow(actual, !call.callee.symbol))
      return {};
  std::vector<unsigned> definingFrames =
      call.calleeValue ? call.calleeValue->definingFrames : enclosingFrames();
  return makeCallable(call.callee, std::move(call.args), std::move(definingFrames), call.loc);
}

bool Callables::isCallOption(const Actual &actual) {
  return actual.isKeyword("named") || actual.isKeyword("shared") || actual.isKeyword("training");
}

bool Callables::readCallOption(const Actual &actual, Frame &callee) {
  const Value value = actual.value ? *actual.value : eval(*actual.arg->value);
  if (value.isError())
    return false;
  if (!actual.isKeyword("training"))
    return readCallName(actual, value, callee);
  const bool isKnown = value.kind == Value::Kind::Bool;
  if (isKnown)
    callee.isTraining = value.boolean();
  else
    report(Code::BadArgument, actual.arg->value->loc,
           std::string("`training` takes `true` or `false`, not ") + value.describe());
  return isKnown;
}

/// `Block(x, named = "encoder")`: the parameters of this call are called `encoder.w`, so a block
/// can be called more than once. With `shared`, all calls of this name have the same parameters.
bool Callables::readCallName(const Actual &actual, const Value &name, Frame &callee) {
  auto isIdentifierChar = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  // `layers.3` is the name of iteration 3 of `repeat layers`.
  bool legal = name.kind == Value::Kind::String && !name.text.empty() &&
               !std::isdigit(static_cast<unsigned char>(name.text[0])) &&
               std::all_of(name.text.begin(), name.text.end(), isIdentifierChar);
  if (!legal) {
    report(Code::BadArgument, actual.arg->value->loc,
           "`" + actual.name->text +
               "` takes a string of letters, digits and `_` that begins with no digit, not " +
               name.print());
    return false;
  }
  callee.prefix += name.text + ".";
  if (actual.isKeyword("shared"))
    callee.sharedWithin = context.loops.size();
  return true;
}

} // namespace titan::sema
