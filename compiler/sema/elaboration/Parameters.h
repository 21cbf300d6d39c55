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
  /// Called after all iterations of a repeat. For each parameter from index `first` on, records the
  /// iterations that declare it, and merges its initialisers if they are equal.
  void finishFrom(size_t first);

  /// The adapter whose block declares parameters; null: the model itself does.
  const Adapter *adapter = nullptr;
  /// Where a program repeats the block of an adapter: the beginning of the names of its parameters,
  /// which the model has already.
  std::optional<std::string> existing;

  size_t declarations = 0; ///< executed declarations: one per iteration of a repeat

  /// The declarations of earlier iterations and calls.
  struct Record {
    std::map<std::string, uint32_t> index; ///< of a parameter in the model, by its full name
    /// For each parameter the iterations that have declared it: one index per enclosing repeat.
    std::vector<std::vector<std::vector<int64_t>>> instances;
    /// For each parameter the shared call that has created it (Frame::id); 0: it is not shared.
    std::vector<unsigned> sharedCalls;
  };
  Record record;

private:
  bool refuseSamples(const syntax::ParamStmt &stmt, const DimSet &dims);
  bool refuseInFunction(const syntax::ParamStmt &stmt, const char *what);
  bool isFrozen(const syntax::ParamStmt &stmt);
  /// Adds the declared parameter or buffer to the model. Returns its value in the body.
  Value addToModel(const syntax::ParamStmt &stmt, Parameter fresh);
  /// The parameter of an adapter that the model has already.
  Value findExisting(const syntax::ParamStmt &stmt);
  bool addEnclosingRepeats(const syntax::ParamStmt &stmt, Parameter &fresh,
                           std::vector<int64_t> &instance);
  /// The index of the parameter, which this iteration or an earlier one has created.
  std::optional<uint32_t> findOrCreate(const syntax::ParamStmt &stmt, Parameter fresh,
                                       std::vector<int64_t> instance);
  /// The current shared call (Frame::id), or 0.
  unsigned getSharedCall() const;
  /// The parameter that another call of the same shared name has created, if it is the same.
  std::optional<uint32_t> findShared(const syntax::ParamStmt &stmt, uint32_t index,
                                     const Parameter &fresh, const std::vector<int64_t> &instance);
  bool mayRecur(const syntax::ParamStmt &stmt, const Parameter &known, const Parameter &fresh,
                const std::vector<int64_t> &instance);
  void finish(Parameter &parameter, const std::vector<std::vector<int64_t>> &instances);
};

} // namespace titan::sema
