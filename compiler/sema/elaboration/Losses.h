// The numbers that a model reports. A run minimises the sum of the losses: at most one `loss =
// ...`, and one `loss NAME = ...` for each name. Metrics, `metric NAME = ...`, have no gradient.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Losses : ElaboratorComponent {
public:
  explicit Losses(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  /// `loss NAME = ...`, or `loss = ...` with the name "".
  void add(const syntax::LossStmt &stmt);
  void add(const syntax::AssignStmt &stmt);
  void add(const syntax::MetricStmt &stmt);
  /// Sums the losses of the model.
  void sum();

private:
  /// Losses or metrics.
  struct Kind {
    const char *word;
    std::vector<Output> Model::*list;
  };
  static const Kind loss, metric;

  void add(const Kind &kind, const std::string &name, const syntax::Expr &expr, Location at);
  Value evalLoss(const syntax::Expr &expr);
  bool isAllowedHere(const Kind &kind, Location at);
  bool isNumber(const Value &value, Location at, const std::string &what);
  bool isNew(const Kind &kind, const std::string &name, Location at);
  /// The element type of losses and metrics: at least f32, because a narrow type would lose digits
  /// of a mean over many values.
  DType computeType() const;
};

} // namespace titan::sema
