// A call as it is elaborated: what is called, with which arguments, and whose names its body sees.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_CALL_H
#define TITAN_COMPILER_SEMA_ELABORATION_CALL_H

#include "compiler/sema/elaboration/Scope.h"
#include "compiler/sema/program/Callable.h"

namespace titan::sema {

struct Call {
  Callee callee;
  std::string name; ///< as messages call it
  Location loc;
  std::vector<Actual> args;
  std::shared_ptr<const Callable> calleeValue = nullptr; ///< the value that is called, if it is one
};

/// One call being elaborated: whose names a body sees, and who called.
struct Frame {
  const syntax::Decl *decl = nullptr;
  const Unit *unit = nullptr;
  Scope *scope = nullptr;
  Frame *caller = nullptr;
  Location callSite;
  /// Where the callee's name stands: the caller, or for a value the place where it was made. From
  /// there a block has its dimensions.
  Frame *lexicalParent = nullptr;
  unsigned id = 0; ///< no two calls have the same
  const Callable *calleeValue = nullptr;
  std::optional<Value> returned = {};
  std::string prefix = {};      ///< of this call's parameters: `encoder.`
  bool declaresWrongly = false; ///< parameters, of which a mistake was reported
};

} // namespace titan::sema

#endif
