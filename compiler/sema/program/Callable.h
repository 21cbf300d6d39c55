// Functions, blocks and models as compile-time values. The name of one without parentheses
// is such a value. So is a partial application, a call with `_` for some arguments: `SwiGlu(_,
// out_deviation = 0.01)`. Its other arguments are evaluated at once; a later call supplies the open
// arguments, which are written `_`.
#pragma once

#include "compiler/sema/modules/Library.h"
#include "compiler/sema/program/Value.h"

namespace titan::sema {

/// The callee of a call: a function, a block or a model of the program, or a built-in function.
struct Callee {
  Symbol symbol;
  std::string builtin; ///< if there is no symbol

  explicit operator bool() const { return symbol || !builtin.empty(); }
  const std::string &name() const { return symbol ? getName(*symbol.decl).text : builtin; }
  bool isBlock() const { return symbol && symbol.decl->is<syntax::BlockDecl>(); }
  bool isModel() const {
    return symbol &&
           (symbol.decl->is<syntax::ModelDecl>() || symbol.decl->is<syntax::ModelAliasDecl>());
  }
};

/// An argument of a call. It is evaluated when it is bound to a formal parameter, or, in a partial
/// application, where it is written.
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
      boundArgs; ///< of a partial application, in its order, including open arguments
  /// The calls around the name of the callable, innermost first: a block uses the dimensions of
  /// that scope.
  std::vector<unsigned> definingFrames;
  Location loc;
  unsigned depth = 1; ///< of callables passed to callables
};

} // namespace titan::sema
