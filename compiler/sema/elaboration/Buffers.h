// Buffers: tensors that a step changes and that are not trained. To everything else they are
// parameters; here is what makes them change.
//
// An update says the value from the next step on. Until then everybody reads the one that the step
// began with, so neither the order of statements nor parts of the batch nor what the backward
// computes again can change what is read (docs/rationale/buffers.md).
#ifndef TITAN_COMPILER_SEMA_ELABORATION_BUFFERS_H
#define TITAN_COMPILER_SEMA_ELABORATION_BUFFERS_H

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Buffers : ElaboratorComponent {
public:
  explicit Buffers(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// The element type of a parameter or buffer.
  std::optional<DType> storedType(const syntax::ParamStmt &stmt);
  /// Whether a tensor of this type can start as it is declared to.
  bool checkInitialiser(const syntax::ParamStmt &stmt, DType dtype, const Initialiser &init);
  void update(const syntax::UpdateStmt &stmt);
  bool refuseAssignment(const syntax::Name &name, const Binding &binding);
  /// Reports buffers that nothing changes.
  void checkUpdated();

private:
  Value nextValue(const syntax::UpdateStmt &stmt, const TensorType &type);
  bool mayUpdate(const syntax::UpdateStmt &stmt, const Binding &buffer);
};

} // namespace titan::sema

#endif
