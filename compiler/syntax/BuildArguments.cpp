// Builds calls and their arguments from the parse tree.
#include "compiler/syntax/Builder.h"

#include <algorithm>

namespace titan::syntax {

/// `b` and `b as c` in `over a, b as c`, which the grammar parses as a positional argument.
static bool isBareDim(const Arg &arg) {
  bool isName = arg.value ? arg.value->as<NameExpr>() != nullptr : arg.dims.has_value();
  return arg.kind == ArgKind::Positional && isName && !arg.along;
}

ExprPtr Builder::buildCall(P::NameOrCallContext &context) {
  if (!context.arguments()) {
    auto made = std::make_unique<NameExpr>(at(context));
    made->path = path(*context.path());
    return made;
  }
  auto made = std::make_unique<CallExpr>(at(context));
  made->callee = path(*context.path());
  bool mayAddDim = false;
  for (P::ArgumentContext *argument : context.arguments()->argument()) {
    Arg arg = buildArg(*argument);
    bool isBare = argument->getStart()->getType() == P::IDENT && isBareDim(arg);
    if (mayAddDim && isBare) {
      appendDim(made->args.back(), std::move(arg));
    } else {
      auto *dims = dynamic_cast<P::DimArgumentContext *>(argument);
      mayAddDim = dims && !dims->dimsArgument()->LPAREN();
      made->args.push_back(std::move(arg));
    }
    mayAddDim &= made->args.back().dims && made->args.back().dims->to.empty();
  }
  checkOrder(made->args);
  if (std::any_of(made->args.begin(), made->args.end(),
                  [](const Arg &arg) { return arg.kind == ArgKind::With; }))
    passingCalls.push_back(made.get());
  return made;
}

/// Adds the dimension of `more` to an argument `over a`.
void Builder::appendDim(Arg &dims, Arg more) const {
  if (more.dims) {
    dims.dims->from.push_back(more.dims->from.front());
    dims.dims->to = std::move(more.dims->to);
    dims.dims->toTuple = more.dims->toTuple;
  } else {
    dims.dims->from.push_back(more.value->as<NameExpr>()->path);
  }
  dims.dims->loc = sources.cover(dims.dims->loc, more.loc);
  dims.loc = sources.cover(dims.loc, more.loc);
}

/// Positional arguments come first: after `over a, b` a bare name is a dimension.
void Builder::checkOrder(const std::vector<Arg> &args) {
  const Arg *named = nullptr;
  for (const Arg &arg : args) {
    if (arg.kind != ArgKind::Positional) {
      named = &arg;
    } else if (named) {
      diags.report(Code::ArgumentOrder, arg.loc, "an argument by position after one by name")
          .note(named->loc, "this one has a name")
          .help("move it before the named arguments, or name it");
      return;
    }
  }
}

Arg Builder::buildArg(P::ArgumentContext &context) {
  if (auto *positional = dynamic_cast<P::PositionalArgumentContext *>(&context))
    return buildPositional(*positional);
  Arg arg;
  arg.loc = at(context);
  if (auto *keyword = dynamic_cast<P::KeywordArgumentContext *>(&context)) {
    arg.kind = ArgKind::Keyword;
    arg.name = name(*keyword->word());
    arg.value = build(*keyword->expr());
    return arg;
  }
  if (auto *passed = dynamic_cast<P::PassedArgumentsContext *>(&context)) {
    arg.kind = ArgKind::With;
    arg.function = path(*passed->functionName()->path());
    return arg;
  }
  auto &dims = static_cast<P::DimArgumentContext &>(context);
  arg.kind = dims.OVER() ? ArgKind::Over : ArgKind::Along;
  arg.dims = buildDims(*dims.dimsArgument());
  return arg;
}

Arg Builder::buildPositional(P::PositionalArgumentContext &context) {
  Arg arg;
  arg.loc = at(context);
  arg.value = build(*context.expr());
  if (context.newDims()) {
    DimBinding binding;
    binding.loc = arg.loc;
    if (!asDims(*arg.value, binding.from))
      diags.report(Code::BadRename, arg.value->loc, "only dimensions can be renamed by `as`")
          .note(at(*context.newDims()), "the new name is here");
    addRenames(binding, *context.newDims());
    arg.dims = std::move(binding);
    arg.value = nullptr;
  }
  if (context.dimName()) {
    DimBinding along;
    along.loc = at(*context.dimName());
    along.from.push_back(path(*context.dimName()->path()));
    if (context.newDim()) {
      along.to.push_back(name(*context.newDim()));
      along.loc = sources.cover(along.loc, along.to[0].loc);
    }
    arg.along = std::move(along);
  }
  return arg;
}

/// Converts the expression `head` or `(heads, head)` to dimensions.
bool Builder::asDims(const Expr &expr, std::vector<Path> &dims) const {
  if (const auto *one = expr.as<NameExpr>()) {
    dims.push_back(one->path);
    return true;
  }
  const auto *tuple = expr.as<TupleExpr>();
  if (!tuple)
    return false;
  for (const ExprPtr &element : tuple->elements) {
    const auto *one = element->as<NameExpr>();
    if (!one)
      return false;
    dims.push_back(one->path);
  }
  return !dims.empty();
}

DimBinding Builder::buildDims(P::DimsArgumentContext &context) {
  DimBinding binding;
  binding.loc = at(context);
  binding.from = context.dimNames() ? paths(*context.dimNames())
                                    : std::vector{path(*context.dimName()->path())};
  if (context.newDims())
    addRenames(binding, *context.newDims());
  return binding;
}

void Builder::addRenames(DimBinding &binding, P::NewDimsContext &context) {
  binding.to = names(context.newDim());
  binding.toTuple = context.LPAREN() != nullptr;
}

} // namespace titan::syntax
