// Functions and blocks as values: resolution of names, partial applications, and their scopes.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Callables : ElaboratorComponent {
public:
  explicit Callables(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// The function or block that a path denotes; empty, without a message, if there is none.
  Callee findCallee(const syntax::Path &path) const;
  /// The callable that a value of this name holds; null if there is none.
  std::shared_ptr<const Callable> callableNamed(const syntax::Path &path);
  /// Reports a name that several imports declare; false for other names.
  bool reportAmbiguous(const syntax::Path &path);
  /// The name of a function or block without parentheses.
  std::optional<Value> evalCallee(const syntax::NameExpr &expr);
  /// Reads a call. If the callee is a partial application, inserts the arguments of the call for
  /// its open arguments. Returns nothing after a report.
  std::optional<Call> readCall(const syntax::CallExpr &expr);
  /// The call of a value, with `args` for its open arguments. Nothing after a report.
  std::optional<Call> fill(const std::shared_ptr<const Callable> &callable,
                           std::vector<Actual> args, Location at);
  /// `f(_, a)`: evaluates the arguments that are not open.
  Value partialApplication(Call call);
  /// The innermost active call around the name of the callable. Of a callable that a declaration
  /// of a model states: the innermost model.
  Frame *findFrame(const Callable &callable) const;
  /// Whether the argument is `named`, `shared` or `training`, which any call takes unless the
  /// callee has an argument of this name.
  static bool isCallOption(const Actual &actual);
  /// Reads such an argument. False after a report.
  bool readCallOption(const Actual &actual, Frame &callee);

private:
  bool readCallName(const Actual &actual, const Value &name, Frame &callee);
  Value makeCallable(Callee callee, std::vector<Actual> given, std::vector<unsigned> definingFrames,
                     Location at);
  bool fillPlaceholders(const Callable &callable, std::vector<Actual> &args, Location at);
  bool evaluateNow(Actual &actual, bool ofBuiltin);
  std::vector<unsigned> enclosingFrames() const;
};

} // namespace titan::sema
