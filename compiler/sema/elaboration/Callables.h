// Functions and blocks as values: what a name stands for, calls in part, and from where a value
// sees dimensions.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_CALLABLES_H
#define TITAN_COMPILER_SEMA_ELABORATION_CALLABLES_H

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Callables : ElaboratorComponent {
public:
  explicit Callables(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// What a path names that can be called; nothing, without a message, if it is no such thing.
  Callee calleeOf(const syntax::Path &path) const;
  /// A name that is called as a value that the name has; null if it has none such.
  std::shared_ptr<const Callable> callableNamed(const syntax::Path &path);
  bool reportAmbiguous(const syntax::Path &path);
  /// A function's or a block's name without parentheses.
  std::optional<Value> evalCallee(const syntax::NameExpr &expr);
  /// The arguments of a call, put into the places that a call in part left open; nothing after a
  /// report.
  std::optional<Call> readCall(const syntax::CallExpr &expr);
  /// `f(_, a)`: what is given is evaluated here and now.
  Value partialApplication(Call call);
  /// The innermost call that was around the place of the name and goes on; the model's always does.
  Frame *frameOf(const Callable &callable) const;

private:
  Value callableOf(Callee callee, std::vector<Actual> given, std::vector<unsigned> definingFrames,
                   Location at);
  bool fillPlaceholders(const Callable &callable, std::vector<Actual> &args, Location at);
  bool evaluateNow(Actual &actual, bool ofBuiltin);
  std::vector<unsigned> enclosingFrames() const;
};

} // namespace titan::sema

#endif
