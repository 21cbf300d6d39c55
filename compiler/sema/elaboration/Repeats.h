// `repeat`: a body interpreted once for every index; bodies that do the same are kept once.
//
// How parameters start is no part of the body. What is left may depend on the index: iterations
// whose ops agree, values being numbered in order, run one variant.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_REPEATS_H
#define TITAN_COMPILER_SEMA_ELABORATION_REPEATS_H

#include "compiler/sema/elaboration/Parameters.h"
#include "compiler/sema/elaboration/Recorder.h"

namespace titan::sema {

class Repeats : ElaboratorComponent {
public:
  explicit Repeats(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  void repeat(const syntax::RepeatStmt &stmt);

private:
  struct Iteration {
    size_t firstValue = 0; ///< of those that belong to the iteration
    Region body;
    std::vector<Value> results;
  };
  /// What iterations change, to take them back.
  struct Snapshot {
    size_t values = 0;
    std::vector<Parameter> parameters;
    Recorder::Knowledge known;
    Parameters::Record record;
    size_t iterations = 0;
  };
  /// What the iterations compute, each distinct body once.
  struct Variants {
    std::vector<std::string> iterArgs;
    std::vector<Iteration> bodies;
    std::vector<int64_t> table; ///< the body of each iteration
  };
  std::optional<DimId> dimension(const syntax::RepeatStmt &stmt);
  bool iterate(const syntax::RepeatStmt &stmt, const std::vector<std::string> &iterArgs, DimId dim,
               int64_t index, Iteration &result);
  void runBody(const syntax::RepeatStmt &stmt, DimId dim, int64_t index);
  std::optional<Variants> interpret(const syntax::RepeatStmt &stmt, DimId dim);
  bool forgetUnknown(const Variants &variants);
  bool addVariant(const syntax::RepeatStmt &stmt, Variants &variants, Iteration next);
  void finish(const syntax::RepeatStmt &stmt, DimId dim, Variants variants);

  // IterationArguments.cpp
  Snapshot snapshot() const;
  void restore(Snapshot before);
  std::vector<std::string> iterArgNames(const syntax::Body &body);
  /// Numbers that the repeat's body turns into tensors become such before it, so that they are
  /// carried.
  bool promoteToTensors(const syntax::RepeatStmt &stmt, DimId dim);
  /// Of the numbers `before`, those that this iteration makes tensors of leave them.
  bool tryIteration(const syntax::RepeatStmt &stmt, DimId dim, int64_t index,
                    std::map<std::string, Value> &before);
  bool promoteToTensor(const std::string &name, const TensorType &type,
                       const syntax::RepeatStmt &stmt);
};

} // namespace titan::sema

#endif
