// Losses: what a run minimises. `loss = ...` stands once in a model, `loss NAME = ...` once for
// each name; the gradient is that of their sum, and those with names are reported one by one.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_LOSSES_H
#define TITAN_COMPILER_SEMA_ELABORATION_LOSSES_H

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Losses : ElaboratorComponent {
public:
  explicit Losses(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// `loss NAME = ...`, or `loss = ...`, which has the name "".
  void add(const syntax::LossStmt &stmt) { add(stmt.name.text, *stmt.value, stmt.loc); }
  void add(const syntax::AssignStmt &stmt) { add("", *stmt.value, stmt.loc); }
  /// Sums what the whole model has added.
  void sum();

private:
  void add(const std::string &name, const syntax::Expr &expr, Location at);
  Value valueOf(const syntax::Expr &expr);
  bool isAllowedHere(Location at);
  bool isNumber(const Value &value, Location at, const std::string &what);
  bool isNew(const std::string &name, Location at);
  /// Few digits would be lost on a mean of many values.
  DType computeType() const;
};

} // namespace titan::sema

#endif
