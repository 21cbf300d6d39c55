// Settings of the model: its arguments, and the evaluation of setting values.
#include "compiler/sema/modules/Suggest.h"
#include "compiler/sema/runs/Resolver.h"

#include <algorithm>
#include <functional>

namespace titan::sema {

using namespace syntax;

namespace {

/// Calls `visit` with a model, then with its base model, and so on.
void visitModels(Symbol model, const Library &library,
                 const std::function<void(const Symbol &)> &visit) {
  constexpr size_t maxLength = 64; // of a chain; extendChain() reports longer ones
  for (size_t i = 0; model && i < maxLength; ++i) {
    visit(model);
    auto *alias = model.decl->as<ModelAliasDecl>();
    model = alias ? library.lookup(*model.unit, alias->base) : Symbol{};
  }
}

/// "mlp.SwiGlu" as a path with the location of the string; nothing for other text.
std::optional<Path> readPath(const StringExpr &text) {
  Path path{{}, text.loc};
  size_t begin = 0;
  auto isIdentifierChar = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  while (begin <= text.value.size()) {
    size_t end = std::min(text.value.find('.', begin), text.value.size());
    std::string segment = text.value.substr(begin, end - begin);
    if (segment.empty() || !std::all_of(segment.begin(), segment.end(), isIdentifierChar))
      return std::nullopt;
    path.segments.push_back({segment, text.loc});
    begin = end + 1;
  }
  return path;
}

} // namespace

bool Resolver::isModelArgument(const std::string &name) const {
  bool found = false;
  visitModels(run.model, library, [&](const Symbol &model) {
    if (auto *decl = model.decl->as<ModelDecl>())
      found = std::any_of(decl->formals.begin(), decl->formals.end(),
                          [&](const Formal &formal) { return formal.name.text == name; });
  });
  return found;
}

/// Whether the default of a model argument is a function or block.
bool Resolver::takesCallable(const std::string &name) const {
  const Expr *defaultValue = nullptr;
  const Unit *defaultUnit = nullptr;
  visitModels(run.model, library, [&](const Symbol &model) {
    const Expr *value = nullptr;
    if (auto *alias = model.decl->as<ModelAliasDecl>()) {
      for (const Setting &setting : alias->settings)
        if (setting.path.text() == name)
          value = setting.value.get();
    } else if (auto *decl = model.decl->as<ModelDecl>()) {
      for (const Formal &formal : decl->formals)
        if (formal.name.text == name)
          value = formal.defaultValue.get();
    }
    if (value && !defaultValue) {
      defaultValue = value;
      defaultUnit = model.unit;
    }
  });
  DiagnosticEngine quiet(diags.sourceManager()); // uses of other arguments are no errors
  return defaultValue && evalConstant(*defaultValue, library, *defaultUnit, quiet).isCallable();
}

/// In a configuration file a block is a string, like all words: `mlp = "SwiGlu"`.
Value Resolver::evaluateArgument(const std::string &name, const Expr &expr) {
  auto *text = expr.as<StringExpr>();
  if (!text || !takesCallable(name))
    return evaluate(expr);
  std::optional<Path> path = readPath(*text);
  if (path && fromConfig) {
    NameExpr named(text->loc);
    named.path = std::move(*path);
    return evaluate(named);
  }
  std::string shown = text->value.empty() ? "..." : text->value;
  diags
      .report(Code::OptionType, expr.loc,
              "`model." + name + "` takes a function or block, not a string")
      .help(fromConfig ? "a configuration file can only name them; pass other expressions by "
                         "`--set 'model." +
                             name + "=" + shown + "'`"
                       : "write `" + shown + "` without quotes");
  return {};
}

/// Evaluates in the scope of the run, then in the scope of the model.
Value Resolver::evaluate(const Expr &expr) {
  auto *name = expr.as<NameExpr>();
  auto *call = expr.as<CallExpr>();
  const Path *path = name ? &name->path : call ? &call->callee : nullptr;
  bool isOfModel = fromCommandLine && path && !library.lookup(*unit, *path) &&
                   library.lookup(*run.model.unit, *path);
  return evalConstant(expr, library, isOfModel ? *run.model.unit : *unit, diags);
}

} // namespace titan::sema
