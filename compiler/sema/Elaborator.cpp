// Where the elaboration begins: a model with its arguments, or an expression outside of any model.
#include "compiler/sema/Elaborator.h"

namespace titan::sema {

using namespace syntax;

bool Elaborator::run(const Symbol &symbol, const Specialisation &given) {
  const ModelDecl &decl = *symbol.decl->as<ModelDecl>();
  size_t errorsBefore = diags.errorReports();
  spec = given;
  computeType = spec.compute;
  Scope scope;
  Frame top{&decl, symbol.unit, &scope, nullptr, decl.loc};
  frame = &top;
  region = &model.body;
  model.name = decl.name.text;
  model.loc = decl.name.loc;
  for (const auto &[name, argument] : spec.dataDims)
    scope.define(name, {argument.value, {}, true, argument.loc, "dimension of the data"});
  std::map<std::string, Argument> left = spec.arguments;
  for (const Formal &formal : decl.formals) {
    Value value;
    Location loc = formal.loc;
    if (auto found = left.find(formal.name.text); found != left.end()) {
      value = found->second.value;
      loc = found->second.loc;
      left.erase(found);
    } else if (formal.defaultValue) {
      value = eval(*formal.defaultValue);
    } else {
      report(Code::ArgumentMissing, model.loc,
             "model `" + model.name + "` needs a value for `" + formal.name.text + "`")
          .note(formal.name.loc, "declared here, without a default")
          .help("a run gives it: `model { " + formal.name.text + " = ... }`");
    }
    std::string_view kind = value.describe(); // with its article
    model.arguments.push_back(
        {formal.name.text, std::string(kind.substr(kind.find(' ') + 1)), value.print()});
    scope.define(formal.name.text, {value, {}, true, loc, "argument"});
  }
  elaborate(decl.body);
  checkUpdated();
  frame = nullptr;
  return diags.errorReports() == errorsBefore;
}

Value Elaborator::evalConstant(const Expr &expr, const Library &library, const Unit &unit,
                               DiagnosticEngine &diags) {
  Model scratch;
  Scope scope;
  Frame top{nullptr, &unit, &scope, nullptr, expr.loc};
  return Elaborator(library, diags, scratch, top).eval(expr);
}

std::optional<Initialiser> Elaborator::evalInitialiser(const Expr &expr, const Library &library,
                                                       const Unit &unit, DiagnosticEngine &diags) {
  Model scratch;
  Scope scope;
  Frame top{nullptr, &unit, &scope, nullptr, expr.loc};
  Elaborator elaborator(library, diags, scratch, top);
  auto *call = expr.as<CallExpr>();
  bool isDrawn = call && !library.lookup(unit, call->callee);
  return isDrawn ? elaborator.drawn(*call) : elaborator.constantInitialiser(expr);
}

/// Functions that are found in an expression of its own may be called in a model: calls of the two
/// are numbered apart.
Elaborator::Elaborator(const Library &library, DiagnosticEngine &diags, Model &scratch, Frame &top)
    : library(library), diags(diags), model(scratch), frame(&top), region(&scratch.body),
      frames(1u << 31) {}

} // namespace titan::sema
