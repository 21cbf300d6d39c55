// What the elaboration says when something is wrong, with what leads to it.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_REPORTS_H
#define TITAN_COMPILER_SEMA_ELABORATION_REPORTS_H

#include "compiler/sema/elaboration/ElaboratorComponent.h"

#include <functional>

namespace titan::sema {

class Reports : ElaboratorComponent {
public:
  explicit Reports(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// With a note for each of the calls that are being inlined.
  Diagnostic &report(Code code, Location at, std::string message);
  /// Notes what dimensions an operand has, and where it was declared if it is a name.
  void noteOperand(Diagnostic &diag, const syntax::Expr &expr, const DimSet &dims);
  bool expectTensor(const Value &value, Location at, const char *what);
  /// Reports a function or block that stands where a number or a tensor is meant.
  bool refuseCallable(const Value &value, Location at);

  using Candidates = std::function<std::vector<std::string>()>;
  /// Proposes the nearest candidate and shows where that one comes from. They are asked for only
  /// while reports are still shown: collecting them for each of many mistakes would take long.
  void suggest(Diagnostic &diag, const syntax::Path &path, const Candidates &candidates);
  Diagnostic &unknownName(const syntax::Path &path, Location at);
  Diagnostic &unknownName(const syntax::Name &name);
  void unknownDim(const syntax::Name &name);
  /// Reports `x.shape`, where `x` is a value; false if it is none.
  bool member(const syntax::Path &path);

private:
  void suggestFunction(Diagnostic &diag, const syntax::Path &path, const Binding &binding);
};

} // namespace titan::sema

#endif
