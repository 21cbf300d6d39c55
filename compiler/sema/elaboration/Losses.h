// The losses, whose sum a run minimises. A model has at most one `loss = ...`, and one `loss NAME =
// ...` for each name. The gradient is that of the sum; named losses are reported individually.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_LOSSES_H
#define TITAN_COMPILER_SEMA_ELABORATION_LOSSES_H

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Losses : ElaboratorComponent {
public:
  explicit Losses(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// `loss NAME = ...`, or `loss = ...` with the name "".
  void add(const syntax::LossStmt &stmt) { add(stmt.name.text, *stmt.value, stmt.loc); }
  void add(const syntax::AssignStmt &stmt) { add("", *stmt.value, stmt.loc); }
  /// Sums the losses of the model.
  void sum();

private:
  void add(const std::string &name, const syntax::Expr &expr, Location at);
  Value valueOf(const syntax::Expr &expr);
  bool isAllowedHere(Location at);
  bool isNumber(const Value &value, Location at, const std::string &what);
  bool isNew(const std::string &name, Location at);
  /// The element type of losses: at least f32, because a narrow type would lose digits of a mean
  /// over many values.
  DType computeType() const;
};

} // namespace titan::sema

#endif
