// Sizes in `weights` declarations: integer expressions over dimensions and arguments of the model.
#ifndef TITAN_COMPILER_SEMA_MAPSIZES_H
#define TITAN_COMPILER_SEMA_MAPSIZES_H

#include "compiler/sema/program/Program.h"
#include "compiler/syntax/AST.h"

#include <map>
#include <optional>

namespace titan::sema {

class MapSizes {
public:
  explicit MapSizes(const Model &model);

  /// The size of a dimension, or an integer argument of the model.
  std::optional<int64_t> find(const std::string &name) const;
  /// Integers, names, `+ - * /` without a remainder. Reports anything else, and numbers that do not
  /// fit.
  std::optional<int64_t> evaluate(const syntax::Expr &expr, DiagnosticEngine &diags) const;

private:
  std::optional<int64_t> combine(const syntax::BinaryExpr &expr, DiagnosticEngine &diags) const;

  std::map<std::string, int64_t> known;
};

} // namespace titan::sema

#endif
