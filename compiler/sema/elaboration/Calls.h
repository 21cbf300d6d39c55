// Calls of functions and blocks: binds arguments, inlines the body, and collects results.
//
// A function can use its parameters and the declarations of its file, but nothing of its caller.
// `over d` passes a dimension of the caller. A block can also use dimensions of the model that it
// declares by `dims` or in the types of its parameters.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Calls : ElaboratorComponent {
public:
  explicit Calls(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  Value evalCall(const syntax::CallExpr &expr);
  /// Calls a function with one value, whose place in messages is that of `argument`.
  Value callValue(const std::shared_ptr<const Callable> &callee, const Actual &argument,
                  const Value &value);
  /// Calls a function or block with these arguments for its open ones, after those that it has.
  Value callValue(const std::shared_ptr<const Callable> &callee, std::vector<Actual> arguments,
                  Location at);
  /// Sets the number of calls so far, so that the next frame has the id `count + 1`.
  void numberFrom(unsigned count) { frames = count; }

private:
  Value dispatch(Call call);
  Value callDecl(const Call &call);
  /// `body` is the declaration with the body of the callee, `namedIn` the frame of the scope that
  /// contains the name of the callee.
  bool reportRecursion(const Call &call, const syntax::Decl *body, const Frame *namedIn);
  void reportUnknownCallee(const syntax::CallExpr &expr);
  Value inlineCall(Frame &callee, const Call &call);
  Value runBody(Frame &callee, const Call &call);
  Value collectResults(const std::vector<syntax::Name> &results, Frame &callee);

  unsigned depth = 0;  ///< of calls
  unsigned frames = 0; ///< calls so far
};

} // namespace titan::sema
