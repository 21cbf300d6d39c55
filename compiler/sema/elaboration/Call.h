// A call during elaboration: the callee, its arguments, and the scope of its body.
#pragma once

#include "compiler/sema/elaboration/Scope.h"
#include "compiler/sema/program/Callable.h"

#include <map>
#include <utility>

namespace titan::sema {

struct Call {
  Callee callee;
  std::string name; ///< for messages
  Location loc;
  std::vector<Actual> args;
  std::shared_ptr<const Callable> calleeValue = nullptr; ///< null if the call names a declaration
};

/// What a model that is called as a component has besides its scope.
struct Component {
  /// Values of the call for inputs that no `input` has taken yet, and their places.
  std::map<std::string, std::pair<Value, Location>> inputs;
  std::vector<Output> outputs; ///< the results of the call
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
  std::string prefix = {}; ///< of the names of its parameters: `encoder.`
  /// Of a call that shares its parameters with others of its name, the number of repeats around it,
  /// which do not number them.
  std::optional<size_t> sharedWithin = {};
  Component *component = nullptr;     ///< of a called model
  bool isTraining = true;             ///< false of `training = false`: as outside of training
  bool hasErroneousParameter = false; ///< a parameter declaration was erroneous, as reported
};

} // namespace titan::sema
