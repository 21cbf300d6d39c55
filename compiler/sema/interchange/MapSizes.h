// Sizes in `weights` declarations: expressions over dimensions and arguments of the model. In the
// map of a component, the dimensions of the component's parameters precede others of the same name.
#pragma once

#include "compiler/sema/elaboration/Elaborator.h"

namespace titan::sema {

class MapSizes {
public:
  /// `component`: the prefix of the names of the component's parameters; empty: the complete model.
  MapSizes(const Model &model, const std::string &component, const Library &library,
           const Unit &unit, DiagnosticEngine &diags);

  /// The size of a dimension, or an integer argument of the model.
  std::optional<int64_t> find(const std::string &name) const;
  /// The integer value of an expression. Reports any other value.
  std::optional<int64_t> evaluate(const syntax::Expr &expr) const;
  /// The product of two sizes. Reports a product beyond 64 bits.
  std::optional<int64_t> multiply(int64_t a, int64_t b, Location loc) const;

private:
  void add(const Dim &dim);
  void add(const std::vector<Model::Argument> &arguments);

  const Library &library;
  const Unit &unit;
  DiagnosticEngine &diags;
  std::map<std::string, Value> known;
};

} // namespace titan::sema
