// Calls of functions and blocks: arguments are bound, the body is inlined, results come back.
//
// A function sees its parameters and what its file declares, nothing of the caller; `over d` makes
// a dimension of the caller's known to it. A block sees dimensions of the model besides, those that
// it declares by `dims` or in the types of its parameters.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_CALLS_H
#define TITAN_COMPILER_SEMA_ELABORATION_CALLS_H

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Calls : ElaboratorComponent {
public:
  explicit Calls(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  Value evalCall(const syntax::CallExpr &expr);
  /// Numbers the calls to come from here on.
  void numberFrom(unsigned first) { frames = first; }

private:
  Value callDecl(const Call &call);
  bool reportRecursion(const Call &call, const Frame *namedIn);
  void reportUnknownCallee(const syntax::CallExpr &expr);
  Value inlineCall(Frame &callee, const Call &call);
  Value runBody(Frame &callee, const Call &call);
  Value collectResults(const std::vector<syntax::Name> &results, Frame &callee);

  unsigned depth = 0;  ///< of calls
  unsigned frames = 0; ///< calls so far
};

} // namespace titan::sema

#endif
