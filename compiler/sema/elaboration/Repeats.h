// Interprets the body of a `repeat` once per index and merges equal bodies into variants.
//
// Iterations share a variant if their operations are equal up to the numbers of values. Initial
// values of parameters are not part of a body.
#pragma once

#include "compiler/sema/elaboration/Parameters.h"
#include "compiler/sema/elaboration/Recorder.h"

namespace titan::sema {

class Repeats : ElaboratorComponent {
public:
  explicit Repeats(Elaboration &elaboration) : ElaboratorComponent(elaboration) {}

  void repeat(const syntax::RepeatStmt &stmt);

private:
  struct Iteration {
    size_t firstValue = 0; ///< the first value of the iteration
    Region body;
    std::vector<Value> results; ///< of the iteration arguments
  };
  /// The state that an iteration changes, for its restoration.
  struct Snapshot {
    size_t values = 0;
    std::vector<Parameter> parameters;
    Recorder::Knowledge known;
    Parameters::Record record;
    size_t iterations = 0;
  };
  /// The distinct bodies of the iterations.
  struct Variants {
    std::vector<std::string> iterArgs;
    std::vector<Iteration> bodies;
    std::vector<int64_t> table; ///< the variant of each iteration
  };
  std::optional<DimId> dimension(const syntax::RepeatStmt &stmt);
  /// Interprets one iteration. Restores the values of `iterArgs`. False after an error.
  bool iterate(const syntax::RepeatStmt &stmt, const std::vector<std::string> &iterArgs, DimId dim,
               int64_t index, Iteration &result);
  void runBody(const syntax::RepeatStmt &stmt, DimId dim, int64_t index);
  std::optional<Variants> interpret(const syntax::RepeatStmt &stmt, DimId dim);
  /// With `Specialisation::tolerant`, marks iteration arguments with erroneous values as unknown.
  /// Returns whether there were any.
  bool forgetUnknown(const Variants &variants);
  bool addVariant(const syntax::RepeatStmt &stmt, Variants &variants, Iteration next);
  /// Appends the repeat to the enclosing region, and defines the iteration arguments as its
  /// results.
  void finish(const syntax::RepeatStmt &stmt, DimId dim, Variants variants);

  // IterationArguments.cpp
  Snapshot snapshot() const;
  void restore(Snapshot before);
  std::vector<std::string> iterArgNames(const syntax::Body &body);
  /// Converts numbers that the body changes to tensors before the repeat, so that they are
  /// iteration arguments.
  bool promoteToTensors(const syntax::RepeatStmt &stmt, DimId dim);
  /// Interprets an iteration. Numbers that it changes to tensors are removed from `before`.
  bool tryIteration(const syntax::RepeatStmt &stmt, DimId dim, int64_t index,
                    std::map<std::string, Value> &before);
  bool promoteToTensor(const std::string &name, const TensorType &type,
                       const syntax::RepeatStmt &stmt);
};

} // namespace titan::sema
