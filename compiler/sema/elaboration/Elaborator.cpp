// The entry points of elaboration: a model with its arguments, or an expression outside of any
// model.
#include "compiler/sema/elaboration/Elaboration.h"

namespace titan::sema {

using namespace syntax;

namespace {

/// The elaboration of an expression outside of any model.
struct StandaloneElaboration {
  StandaloneElaboration(const Library &library, const Unit &unit, DiagnosticEngine &diags,
                        Location at)
      : top{nullptr, &unit, &scope, nullptr, at, nullptr, firstFrame},
        elaboration(library, diags, scratch, spec, top) {
    elaboration.calls.numberFrom(firstFrame);
  }

  /// A model may call callables that this elaboration creates, so frame ids must be distinct.
  static constexpr unsigned firstFrame = 1u << 31;

  Model scratch;
  Scope scope;
  Specialisation spec;
  Frame top;
  Elaboration elaboration;
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
  Elaboration elaboration(library, diags, model, spec, top);
  elaboration.components.defineTop(decl.formals);
  elaboration.statements.elaborate(decl.body);
  if (!spec.tolerant) {
    elaboration.losses.sum();
    elaboration.buffers.checkUpdated();
    elaboration.inputDropout.checkUsed();
  }
  return elaboration.statements.unhandled() == errorsBefore;
}

bool elaborateOptimizer(const Symbol &symbol, const OptimizerRequest &request,
                        const Library &library, DiagnosticEngine &diags, Model &function) {
  const OptimizerDecl &decl = *symbol.decl->as<OptimizerDecl>();
  const size_t errorsBefore = diags.errorReports();
  Specialisation spec;
  spec.params = spec.compute = request.parameter.dtype;
  spec.options = request.options;
  Scope scope;
  Frame top{&decl, symbol.unit, &scope, nullptr, decl.loc};
  function.name = decl.name.text;
  function.loc = decl.name.loc;
  Elaboration elaboration(library, diags, function, spec, top);
  elaboration.statements.optimizer(decl, request);
  return diags.errorReports() == errorsBefore;
}

bool elaborateSchedule(const Symbol &symbol, const ScheduleRequest &request, const Library &library,
                       DiagnosticEngine &diags, Model &function) {
  const ScheduleDecl &decl = *symbol.decl->as<ScheduleDecl>();
  const size_t errorsBefore = diags.errorReports();
  Specialisation spec;
  spec.params = spec.compute = DType::F64;
  spec.launchOptions = request;
  Scope scope;
  Frame top{&decl, symbol.unit, &scope, nullptr, decl.loc};
  function.name = decl.name.text;
  function.loc = decl.name.loc;
  Elaboration elaboration(library, diags, function, spec, top);
  elaboration.statements.schedule(decl);
  return diags.errorReports() == errorsBefore;
}

Value evalConstant(const Expr &expr, const Library &library, const Unit &unit,
                   DiagnosticEngine &diags) {
  return evalConstant(expr, {}, library, unit, diags);
}

Value evalConstant(const Expr &expr, const std::map<std::string, Value> &names,
                   const Library &library, const Unit &unit, DiagnosticEngine &diags) {
  StandaloneElaboration standalone(library, unit, diags, expr.loc);
  for (const auto &[name, value] : names)
    standalone.scope.define(name, {value, {}, false, {}, "name"});
  return standalone.elaboration.expressions.eval(expr);
}

std::optional<Initialiser> evalInitialiser(const Expr &expr, const Library &library,
                                           const Unit &unit, DiagnosticEngine &diags) {
  StandaloneElaboration standalone(library, unit, diags, expr.loc);
  auto *call = expr.as<CallExpr>();
  bool isDrawn = call && !library.lookup(unit, call->callee);
  return isDrawn ? standalone.elaboration.initialisers.drawn(*call)
                 : standalone.elaboration.initialisers.constant(expr);
}

} // namespace titan::sema
