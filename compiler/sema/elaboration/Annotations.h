// The element types that declarations state: `let s: f32[batch] = ...`.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"
#include "compiler/syntax/Node.h"

namespace titan::sema {

class Annotations : ElaboratorComponent {
public:
  explicit Annotations(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// The stated element type: f64 instead of another floating-point type in runs of f64. Null if
  /// none is stated, or after a report.
  std::optional<DType> getStated(const syntax::TypeSpec &type);
  /// The element type in which the value of a declaration is computed: a stated floating-point type
  /// is a precision region.
  DType getComputeType(std::optional<DType> stated) const;
  /// The value in the stated element type. Another floating-point type is converted; reports other
  /// differences and then returns the value as it is.
  Value convert(const Value &value, std::optional<DType> stated, const syntax::TypeSpec &type,
                Location at);

private:
  void refuseTensor(DType actual, DType stated, Location statedAt, Location at);
  void checkNumber(const Value &value, DType stated, Location statedAt, Location at);
};

} // namespace titan::sema
