// A call during elaboration: the callee, its arguments, and the scope of its body.
//
// Functions and blocks are compile-time values. A name without parentheses is one, and so is a
// partial application, a call with `_` for some arguments: `SwiGlu(_, out_deviation = 0.01)`. Its
// other arguments are evaluated at once; the later call supplies the open ones.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_CALL_H
#define TITAN_COMPILER_SEMA_ELABORATION_CALL_H

#include "compiler/sema/Library.h"
#include "compiler/sema/elaboration/Scope.h"

namespace titan::sema {

/// The callee: a function or block of the program, or a built-in function.
struct Callee {
  Symbol symbol;
  std::string builtin; ///< if there is no symbol

  explicit operator bool() const { return symbol || !builtin.empty(); }
  const std::string &name() const { return symbol ? nameOf(*symbol.decl).text : builtin; }
  bool isBlock() const { return symbol && symbol.decl->is<syntax::BlockDecl>(); }
};

/// An argument. It is evaluated when it is bound; in a partial application, where it is written.
struct Actual {
  syntax::ArgKind kind;
  std::optional<syntax::Name> name; ///< of `name = ...`
  const syntax::Arg *arg;
  Location loc;
  bool isPlaceholder = false;      ///< `_`
  std::optional<Value> value = {}; ///< once evaluated
  std::optional<std::vector<DimId>> dims =
      {}; ///< once evaluated, of an argument that names dimensions

  bool isKeyword(std::string_view word) const {
    return kind == syntax::ArgKind::Keyword && name->text == word;
  }
};

/// A function or block as a value.
struct Callable {
  Callee callee;
  std::vector<Actual>
      boundArgs; ///< of a partial application, in its order, including the open ones
  /// The calls around the name of the callable, innermost first: a block uses the dimensions of
  /// that scope.
  std::vector<unsigned> definingFrames;
  Location loc;
  unsigned depth = 1; ///< of callables passed to callables
};

struct Call {
  Callee callee;
  std::string name; ///< for messages
  Location loc;
  std::vector<Actual> args;
  std::shared_ptr<const Callable> calleeValue = nullptr; ///< the called value, if the callee is one
};

/// A call under elaboration: the scope of its body, and its caller.
struct Frame {
  const syntax::Decl *decl = nullptr;
  const Unit *unit = nullptr;
  Scope *scope = nullptr;
  Frame *caller = nullptr;
  Location callSite;
  /// The scope of the callee's name: the caller, or the defining frame of a value. A block resolves
  /// its dimensions there.
  Frame *lexicalParent = nullptr;
  unsigned id = 0; ///< unique
  const Callable *calleeValue = nullptr;
  std::optional<Value> returned = {};
  std::string prefix = {};      ///< of the names of its parameters: `encoder.`
  bool declaresWrongly = false; ///< a parameter declaration was erroneous, as reported
};

} // namespace titan::sema

#endif
