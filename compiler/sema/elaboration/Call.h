// A call as it is elaborated: what is called, with which arguments, and whose names its body sees.
//
// Functions and blocks are values of compile time, too. A name without parentheses is one, and so
// is a call with `_` in place of some arguments, `SwiGlu(_, out_deviation = 0.01)`: the others are
// evaluated where that stands, those left open come with the call.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_CALL_H
#define TITAN_COMPILER_SEMA_ELABORATION_CALL_H

#include "compiler/sema/Library.h"
#include "compiler/sema/elaboration/Scope.h"

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
