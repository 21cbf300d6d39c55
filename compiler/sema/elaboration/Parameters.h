// Parameters, and buffers as far as they are such: what is declared in which iterations of repeats.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_PARAMETERS_H
#define TITAN_COMPILER_SEMA_ELABORATION_PARAMETERS_H

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Parameters : ElaboratorComponent {
public:
  explicit Parameters(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  void declare(const syntax::ParamStmt &stmt);
  /// Of the parameter or buffer that this name has here, if the body at hand declares one.
  std::optional<uint32_t> indexOf(const std::string &name) const;
  /// Once all iterations are known: which of them have the parameters from this one on, and how
  /// they start if all start alike.
  void finishFrom(size_t first);

  size_t declarations = 0; ///< those of a repeat in each iteration

  struct Record {
    std::map<std::string, uint32_t> index;
    /// For each parameter the iterations that have declared it: one index per enclosing repeat.
    std::vector<std::vector<std::vector<int64_t>>> instances;
  };
  Record record;

private:
  bool refuse(const syntax::ParamStmt &stmt, const char *what);
  bool isFrozen(const syntax::ParamStmt &stmt);
  Value recorded(const syntax::ParamStmt &stmt, Parameter fresh);
  bool addEnclosingRepeats(const syntax::ParamStmt &stmt, Parameter &fresh,
                           std::vector<int64_t> &instance);
  std::optional<uint32_t> enter(const syntax::ParamStmt &stmt, Parameter fresh,
                                std::vector<int64_t> instance);
  bool mayRecur(const syntax::ParamStmt &stmt, const Parameter &known, const Parameter &fresh,
                const std::vector<int64_t> &instance);
  void finish(Parameter &parameter, const std::vector<std::vector<int64_t>> &instances);
};

} // namespace titan::sema

#endif
