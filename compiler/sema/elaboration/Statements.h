// Interprets the statements of bodies.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Statements : ElaboratorComponent {
public:
  explicit Statements(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  void elaborate(const syntax::Body &body);
  /// The body of an optimizer, for a parameter of this type.
  void optimizer(const syntax::OptimizerDecl &decl, const OptimizerRequest &request);
  /// The body of a schedule.
  void schedule(const syntax::ScheduleDecl &decl);
  /// The number of errors outside of tolerated statements. If the specialisation tolerates errors,
  /// the results of an erroneous statement are unknown, and independent statements are still
  /// elaborated.
  size_t unhandled() const { return diags.errorReports() - handled; }
  /// The declared dimensions of the current value are wrong, as reported.
  bool declarationFailed = false;
  /// The value whose declared dimensions are resolved; invalid elsewhere.
  Location definingValue = {};

private:
  size_t handled = 0; ///< errors of tolerated statements
  void defineDimsAfterAs(const syntax::Stmt &stmt);
  void forget(const syntax::Stmt &stmt);
  void statement(const syntax::Stmt &stmt);
  void dims(const syntax::DimsStmt &stmt);
  void input(const syntax::InputStmt &stmt);
  void output(const syntax::OutputStmt &stmt);
  bool isNewOutput(const std::vector<Output> &known, const syntax::Name &name);
  void let(const syntax::LetStmt &stmt);
  void letSingle(const syntax::LetStmt::Target &target, const syntax::Expr &value);
  void bindResult(const syntax::LetStmt::Target &target, Value value, std::optional<DType> stated,
                  Location at);
  void bindLet(const syntax::Name &name, Value value);
  void branch(const syntax::IfStmt &stmt);
  void noteAbsentInputs(const syntax::IfStmt::Branch &branch);
  void precision(const syntax::PrecisionStmt &stmt);
  void returnValues(const syntax::ReturnStmt &stmt);
  // OptimizerBody.cpp
  bool belongsHere(const syntax::Stmt &stmt);
  void option(const syntax::OptionStmt &stmt);
  void state(const syntax::StateStmt &stmt);
  bool optimizerDims(const syntax::OptimizerDecl &decl, const OptimizerRequest &request);
  /// Adds an input to the function of an optimizer or a schedule.
  Value addInput(const syntax::Name &name, TensorType type);
  void optimizerInput(const syntax::Name &name, TensorType type, const char *what);
  void optimizerOutput(const Value &value, const Input &replaced, Location at,
                       const std::string &what);
  // ScheduleBody.cpp
  Value launchOption(const syntax::Name &name, const LaunchOption &option);
  bool computesNumbers(const syntax::ScheduleDecl &decl);
  // Assignments.cpp
  void assign(const syntax::AssignStmt &stmt);
  void assignTo(const syntax::Name &name, Value value, Location valueLoc);
  bool mayReplace(const syntax::Name &name, const Binding &binding, const Value &value,
                  Location valueLoc);
};

} // namespace titan::sema
