// Buffers: tensors that a step updates and the optimizer does not. Their declarations are those of
// parameters (Parameters.h); this component handles their updates.
//
// An update defines the value for the next step. Reads return the value at the beginning of the
// step. The order of statements, microbatches and recomputation therefore cannot change a read
// (docs/rationale/buffers.md).
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Buffers : ElaboratorComponent {
public:
  explicit Buffers(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// The element type of a parameter or buffer. Nothing after a report.
  std::optional<DType> storedType(const syntax::ParamStmt &stmt);
  /// Checks that the type permits the initialiser.
  bool checkInitialiser(const syntax::ParamStmt &stmt, DType dtype, const Initialiser &init);
  void update(const syntax::UpdateStmt &stmt);
  /// Reports an assignment `name = ...` to a buffer. Returns false if the name is no buffer.
  bool refuseAssignment(const syntax::Name &name, const Binding &binding);
  /// Reports buffers without an update.
  void checkUpdated();
  /// The value in the type of the buffer or parameter `name`, which `what` describes. Reports other
  /// dimensions and element types.
  Value nextValue(const syntax::Expr &value, const std::string &name, const TensorType &type,
                  const std::string &what);
  /// The same for a value from `at`.
  Value checkNextValue(const Value &value, const std::string &name, const TensorType &type,
                       const std::string &what, Location at);

private:
  bool mayUpdate(const syntax::UpdateStmt &stmt, const Binding &buffer);
};

} // namespace titan::sema
