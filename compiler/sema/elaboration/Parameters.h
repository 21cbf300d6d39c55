// Declarations of parameters and buffers, per iteration of the enclosing repeats.
#pragma once

#include "compiler/sema/elaboration/ElaboratorComponent.h"

namespace titan::sema {

class Parameters : ElaboratorComponent {
public:
  explicit Parameters(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  void declare(const syntax::ParamStmt &stmt);
  /// The index of the parameter or buffer of this name, if the current body declares one.
  std::optional<uint32_t> findIndex(const std::string &name) const;
  /// After all iterations: records which of them have the parameters from `first` on, and merges
  /// equal initialisers.
  void finishFrom(size_t first);

  size_t declarations = 0; ///< counted in each iteration of a repeat

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
