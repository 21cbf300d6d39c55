// A `config` declaration with all that it refers to: the equations between the keys of a
// configuration and the arguments of a model.
#pragma once

#include "compiler/sema/elaboration/SpecifiedModel.h"
#include "compiler/sema/interchange/ConfigJson.h"
#include "compiler/sema/interchange/Solve.h"

namespace titan::sema {

/// An object of the configuration whose members the declaration describes: the whole configuration
/// (number 0), or that of an `optional`.
struct ConfigObject {
  const syntax::ConfigEntry *entry = nullptr; ///< null: the whole configuration
  size_t outer = 0;                           ///< the object around it
};

/// An equation, or an `ignore`, about members of an object.
struct ConfigLine {
  const syntax::ConfigEntry *entry = nullptr;
  const Unit *unit = nullptr; ///< of the names in its expressions
  size_t object = 0;
};

struct ConfigMap {
  std::string architecture;
  Symbol decl;
  Symbol model;           ///< as the declaration names it
  SpecifiedModel subject; ///< the same, as the model with a body and its arguments
  /// The name that denotes the number of positions of a sample in expressions (`seq`). An import
  /// reads the key of such an equation as the length for which the model is made.
  std::string lengthName;
  std::vector<ConfigObject> objects;
  std::vector<ConfigLine> equations, ignored;
  /// Arguments with an effect on training only, so no key gives them. Not all are arguments of this
  /// model.
  std::vector<syntax::Name> training;

  /// Whether the model is a part of what the configuration describes, as the text model beside a
  /// vision tower. Object 1 is that of the model.
  bool hasObject() const { return decl.decl->as<syntax::ConfigDecl>()->object.has_value(); }
  const std::vector<syntax::Formal> &formals() const;
  /// The arguments of the model that an equation reads, each once.
  std::vector<syntax::Name> arguments(const ConfigLine &equation) const;
  /// Whether an equation reads the length of samples.
  bool readsLength(const ConfigLine &equation) const;
  /// Whether `inner` is the object `outer` or a descendant of it.
  bool isWithin(size_t inner, size_t outer) const;
};

/// Resolves a declaration for a model, with its sections. Nothing after an error, which is
/// reported.
std::optional<ConfigMap> resolveConfig(const Symbol &decl, const Library &library,
                                       DiagnosticEngine &diags);

/// Reports keys that are declared twice, names that are neither arguments nor keys, and arguments
/// of the model that no equation can give.
void checkConfig(const ConfigMap &map, DiagnosticEngine &diags);

/// The member at a path within an object; null if there is none. `a.length` is the number of
/// members of the object `a`, unless it has a member of this name.
const ConfigValue *findMember(const ConfigValue &object, const syntax::Path &path);

/// Evaluates with `names`; an Error value, without a report, if there is no value.
Value evaluateQuietly(const syntax::Expr &expr, const NamedValues &names, const Library &library,
                      const Unit &unit, const SourceManager &sources);

/// Gives each parameter of the model without a value in `values` its argument or its default, as
/// far as the names in the default have values.
void addDefaults(const SpecifiedModel &model, NamedValues &values, const Library &library,
                 const SourceManager &sources);

} // namespace titan::sema
