// Where the elaboration begins: a model with its arguments, or an expression outside of any model.
#include "compiler/sema/elaboration/Elaboration.h"

namespace titan::sema {

using namespace syntax;

namespace {

/// Gives a model's formals their values: those of the run, or their defaults.
class Opening : Part {
public:
  explicit Opening(Elaboration &parts) : Part(parts) {}

  void define(const std::vector<Formal> &formals) {
    for (const auto &[name, argument] : spec.dataDims)
      here.frame->scope->define(name,
                                {argument.value, {}, true, argument.loc, "dimension of the data"});
    for (const Formal &formal : formals) {
      Argument argument = argumentFor(formal);
      std::string_view kind = argument.value.describe(); // with its article
      model.arguments.push_back(
          {formal.name.text, std::string(kind.substr(kind.find(' ') + 1)), argument.value.print()});
      here.frame->scope->define(formal.name.text,
                                {argument.value, {}, true, argument.loc, "argument"});
    }
  }

private:
  Argument argumentFor(const Formal &formal) {
    if (auto found = spec.arguments.find(formal.name.text); found != spec.arguments.end())
      return found->second;
    if (formal.defaultValue)
      return {eval(*formal.defaultValue), formal.loc};
    report(Code::ArgumentMissing, model.loc,
           "model `" + model.name + "` needs a value for `" + formal.name.text + "`")
        .note(formal.name.loc, "declared here, without a default")
        .help("a run gives it: `model { " + formal.name.text + " = ... }`");
    return {{}, formal.loc};
  }
};

/// An elaboration outside of any model.
struct Aside {
  Aside(const Library &library, const Unit &unit, DiagnosticEngine &diags, Location at)
      : top{nullptr, &unit, &scope, nullptr, at}, parts(library, diags, scratch, spec, top) {
    // Functions that are found here may be called in a model: calls of the two are numbered apart.
    parts.calls.numberFrom(1u << 31);
  }

  Model scratch;
  Scope scope;
  Specialisation spec;
  Frame top;
  Elaboration parts;
};

} // namespace

bool elaborate(const Symbol &symbol, const Specialisation &spec, const Library &library,
               DiagnosticEngine &diags, Model &model) {
  const ModelDecl &decl = *symbol.decl->as<ModelDecl>();
  size_t errorsBefore = diags.errorReports();
  Scope scope;
  Frame top{&decl, symbol.unit, &scope, nullptr, decl.loc};
  model.name = decl.name.text;
  model.loc = decl.name.loc;
  Elaboration parts(library, diags, model, spec, top);
  Opening(parts).define(decl.formals);
  parts.statements.elaborate(decl.body);
  if (!spec.tolerant) {
    parts.losses.sum();
    parts.buffers.checkUpdated();
  }
  return parts.statements.unhandled() == errorsBefore;
}

Value evalConstant(const Expr &expr, const Library &library, const Unit &unit,
                   DiagnosticEngine &diags) {
  return Aside(library, unit, diags, expr.loc).parts.expressions.eval(expr);
}

std::optional<Initialiser> evalInitialiser(const Expr &expr, const Library &library,
                                           const Unit &unit, DiagnosticEngine &diags) {
  Aside aside(library, unit, diags, expr.loc);
  auto *call = expr.as<CallExpr>();
  bool isDrawn = call && !library.lookup(unit, call->callee);
  return isDrawn ? aside.parts.initialisers.drawn(*call) : aside.parts.initialisers.constant(expr);
}

} // namespace titan::sema
