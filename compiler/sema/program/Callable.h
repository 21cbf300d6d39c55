// Functions and blocks are values of compile time, too. A name without parentheses is one, and so
// is a call with `_` in place of some arguments, `SwiGlu(_, out_deviation = 0.01)`: the others are
// evaluated where that stands, those left open come with the call.
#ifndef TITAN_COMPILER_SEMA_PROGRAM_CALLABLE_H
#define TITAN_COMPILER_SEMA_PROGRAM_CALLABLE_H

#include "compiler/sema/modules/Library.h"
#include "compiler/sema/program/Value.h"

namespace titan::sema {

/// What a call names: a function or block of the program, or a function of the language.
struct Callee {
  Symbol symbol;
  std::string builtin; ///< where there is no symbol

  explicit operator bool() const { return symbol || !builtin.empty(); }
  const std::string &name() const { return symbol ? nameOf(*symbol.decl).text : builtin; }
  bool isBlock() const { return symbol && symbol.decl->is<syntax::BlockDecl>(); }
};

/// One argument. It is evaluated when it is bound; of a call given in part, where that stands.
struct Actual {
  syntax::ArgKind kind;
  std::optional<syntax::Name> name; ///< of `name = ...`
  const syntax::Arg *arg;
  Location loc;
  bool isPlaceholder = false;                  ///< `_`
  std::optional<Value> value = {};             ///< once evaluated
  std::optional<std::vector<DimId>> dims = {}; ///< once evaluated, of what names dimensions

  bool isKeyword(std::string_view word) const {
    return kind == syntax::ArgKind::Keyword && name->text == word;
  }
};

/// A function or block as a value.
struct Callable {
  Callee callee;
  std::vector<Actual> boundArgs; ///< by a call in part, in its order, with those left open
  /// The calls around the place where its name stands, innermost first: a block sees the dimensions
  /// of that place.
  std::vector<unsigned> definingFrames;
  Location loc;
  unsigned depth = 1; ///< of callables given to callables
};

} // namespace titan::sema

#endif
