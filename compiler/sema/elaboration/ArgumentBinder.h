// Binds the arguments of one call to the formal parameters of a function or block.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class ArgumentBinder : ElaboratorComponent {
public:
  ArgumentBinder(Elaboration &elaboration, const std::vector<syntax::Formal> &formals,
                 const Call &call, Frame &callee)
      : ElaboratorComponent(elaboration), formals(formals), call(call), callee(callee),
        used(call.args.size()) {}

  /// False after a report.
  bool bind();

private:
  Value evalActual(const Actual &actual);
  bool bindCallOptions();
  std::string likelyDim() const;
  bool bindDim(const syntax::Formal &formal);
  bool bindValue(const syntax::Formal &formal);
  /// The argument for a formal: the keyword of its name, else the next positional one.
  std::optional<size_t> findPosition(const syntax::Formal &formal) const;
  void checkDims(const syntax::Formal &formal, Value &value, Location at);
  void reportMissing(const syntax::Formal &formal);
  bool reportUnknownKeywords();
  bool reportUnused();

  const std::vector<syntax::Formal> &formals;
  const Call &call;
  Frame &callee;          ///< its scope receives the formal parameters
  std::vector<bool> used; ///< by argument of the call: whether it is bound
};

} // namespace titan::sema
