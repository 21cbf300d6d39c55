#include "compiler/sema/modules/PassedParameters.h"
#include "compiler/sema/modules/Suggest.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

/// A copy of a constant; null for an expression with names.
ExprPtr copyConstant(const Expr &expr);

template <typename Node> ExprPtr copyNode(const Node &node) {
  auto made = std::make_unique<Node>(node.loc);
  if constexpr (requires { node.value; })
    made->value = node.value;
  return made;
}

template <typename Sequence> ExprPtr copyElements(const Sequence &sequence) {
  auto made = std::make_unique<Sequence>(sequence.loc);
  for (const ExprPtr &element : sequence.elements) {
    made->elements.push_back(copyConstant(*element));
    if (!made->elements.back())
      return nullptr;
  }
  return made;
}

ExprPtr copyUnary(const UnaryExpr &unary) {
  auto made = std::make_unique<UnaryExpr>(unary.loc);
  made->op = unary.op;
  made->operand = copyConstant(*unary.operand);
  return made->operand ? std::move(made) : nullptr;
}

ExprPtr copyConstant(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Int:
    return copyNode(*expr.as<IntExpr>());
  case ExprKind::Float:
    return copyNode(*expr.as<FloatExpr>());
  case ExprKind::String:
    return copyNode(*expr.as<StringExpr>());
  case ExprKind::Bool:
    return copyNode(*expr.as<BoolExpr>());
  case ExprKind::None:
    return copyNode(*expr.as<NoneExpr>());
  case ExprKind::Unary:
    return copyUnary(*expr.as<UnaryExpr>());
  case ExprKind::Tuple:
    return copyElements(*expr.as<TupleExpr>());
  case ExprKind::List:
    return copyElements(*expr.as<ListExpr>());
  default:
    return nullptr;
  }
}

std::vector<Formal> *mutableFormals(Decl &decl) {
  return const_cast<std::vector<Formal> *>(getFormals(decl));
}

class ParameterReplacement {
public:
  ParameterReplacement(const Library &library, Unit &unit, DiagnosticEngine &diags)
      : library(library), unit(unit), diags(diags) {}

  void run() {
    for (const DeclPtr &decl : unit.module->decls)
      replaceFormals(*decl);
    for (CallExpr *call : unit.module->passingCalls)
      replaceArguments(*call);
  }

private:
  /// The parameters that `with` stands for. Those of the same file may themselves contain `with`.
  std::vector<const Formal *> findParameters(const Path &function) {
    Symbol symbol = library.lookup(unit, function);
    const std::vector<Formal> *formals = symbol ? getFormals(*symbol.decl) : nullptr;
    if (!formals) {
      reportUnknown(function, symbol);
      return {};
    }
    if (symbol.unit == &unit && !replaceFormals(const_cast<Decl &>(*symbol.decl))) {
      diags.report(Code::PassedParameters, function.loc,
                   "`" + function.text() + "` takes over its own parameters");
      return {};
    }
    std::vector<const Formal *> withDefaults;
    for (const Formal &formal : *formals)
      if (formal.defaultValue)
        withDefaults.push_back(&formal);
    if (withDefaults.empty())
      diags.report(Code::PassedParameters, function.loc,
                   "no parameter of `" + function.text() +
                       "` has a default, so `with` has no effect");
    return withDefaults;
  }

  void reportUnknown(const Path &function, const Symbol &symbol) {
    Diagnostic &diag =
        diags.report(symbol ? Code::PassedParameters : Code::UnknownName, function.loc,
                     symbol ? "`" + function.text() + "` has no parameters"
                            : "no function is named `" + function.text() + "` here");
    if (!symbol && !library.suggestImport(diag, unit, function))
      suggestName(diag, function.loc, function.text(), library.names(unit));
  }

  /// Returns false within a cycle.
  bool replaceFormals(Decl &decl) {
    std::vector<Formal> *formals = mutableFormals(decl);
    if (!formals || std::none_of(formals->begin(), formals->end(), isWith))
      return true;
    if (std::find(open.begin(), open.end(), &decl) != open.end())
      return false;
    open.push_back(&decl);
    std::vector<Formal> replaced;
    for (Formal &formal : *formals)
      if (isWith(formal))
        appendFormals(replaced, formal, *formals);
      else
        replaced.push_back(std::move(formal));
    *formals = std::move(replaced);
    open.pop_back();
    return true;
  }

  static bool isWith(const Formal &formal) { return formal.kind == FormalKind::With; }

  void appendFormals(std::vector<Formal> &replaced, const Formal &with,
                     const std::vector<Formal> &written) {
    auto isNamed = [](const std::vector<Formal> &formals, const std::string &name) {
      return std::any_of(formals.begin(), formals.end(), [&](const Formal &formal) {
        return !isWith(formal) && formal.name.text == name;
      });
    };
    for (const Formal *parameter : findParameters(with.function)) {
      const std::string &name = parameter->name.text;
      if (isNamed(replaced, name) || isNamed(written, name))
        continue;
      Formal made;
      made.name = {name, with.function.loc};
      made.loc = with.loc;
      made.defaultValue = copyConstant(*parameter->defaultValue);
      if (made.defaultValue)
        replaced.push_back(std::move(made));
      else
        diags
            .report(Code::PassedParameters, with.loc,
                    "the default of `" + name +
                        "` is no constant, so another declaration cannot take it over")
            .note(parameter->loc, "declared here");
    }
  }

  void replaceArguments(CallExpr &call) {
    std::vector<Arg> replaced;
    for (Arg &arg : call.args)
      if (arg.kind != ArgKind::With)
        replaced.push_back(std::move(arg));
    for (const Arg &with : call.args)
      if (with.kind == ArgKind::With)
        appendArguments(replaced, with);
    call.args = std::move(replaced);
  }

  void appendArguments(std::vector<Arg> &replaced, const Arg &with) {
    for (const Formal *parameter : findParameters(with.function)) {
      const Name name = {parameter->name.text, with.loc};
      if (std::any_of(replaced.begin(), replaced.end(), [&](const Arg &arg) {
            return arg.kind == ArgKind::Keyword && arg.name->text == name.text;
          }))
        continue;
      Arg made;
      made.kind = ArgKind::Keyword;
      made.loc = with.loc;
      made.name = name;
      auto value = std::make_unique<NameExpr>(with.loc);
      value->path = {{name}, with.loc};
      made.value = std::move(value);
      replaced.push_back(std::move(made));
    }
  }

  const Library &library;
  Unit &unit;
  DiagnosticEngine &diags;
  std::vector<const Decl *> open; ///< whose parameters are being replaced
};

} // namespace

void replacePassedParameters(const Library &library, Unit &unit, DiagnosticEngine &diags) {
  ParameterReplacement(library, unit, diags).run();
}

} // namespace titan::sema
