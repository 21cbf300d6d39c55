// The visible names during elaboration.
//
// One name may be a number and a dimension: the argument `heads = 16` of a model is the number in
// `embed / heads` and the dimension in `q[batch, heads]`. It becomes a dimension at its first use
// as one. `over d` of a function may denote several dimensions.
#pragma once

#include "compiler/sema/program/Value.h"

#include <map>

namespace titan::sema {

struct Binding {
  Value value;
  std::vector<DimId> dims; ///< of a name that denotes dimensions; empty before its first use as one
  bool mayBeDim = false;   ///< model arguments and declared dimensions; a plain `let` is a number
  Location loc;
  const char *what = "name"; ///< "parameter", "input", "argument", ...: for notes
  Location updated = {};     ///< of a buffer: its update
  Location formal = {};      ///< of an argument, whose `loc` is in the call: its parameter

  Location getDeclaration() const { return formal.isValid() ? formal : loc; }
};

class Scope {
public:
  explicit Scope(Scope *parent = nullptr) : parent(parent) {}

  Binding *find(const std::string &name) {
    for (Scope *scope = this; scope; scope = scope->parent)
      if (Binding *own = scope->findOwn(name))
        return own;
    return nullptr;
  }
  Binding *findOwn(const std::string &name) {
    auto found = names.find(name);
    return found == names.end() ? nullptr : &found->second;
  }
  /// Replaces the definition in this scope: `let` may shadow.
  Binding &define(const std::string &name, Binding binding) {
    return names[name] = std::move(binding);
  }
  void collect(std::vector<std::string> &all, bool dimsOnly) const {
    for (const auto &[name, binding] : names)
      if (!dimsOnly || binding.mayBeDim)
        all.push_back(name);
    if (parent)
      parent->collect(all, dimsOnly);
  }

private:
  Scope *parent;
  std::map<std::string, Binding> names; // nodes are stable
};

} // namespace titan::sema
