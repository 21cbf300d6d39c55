// `repeat`: a body interpreted once for every index; bodies that do the same are kept once.
//
// How parameters start is no part of the body. What is left may depend on the index: iterations
// whose ops agree, values being numbered in order, run one variant.
#ifndef TITAN_COMPILER_SEMA_ELABORATION_REPEATS_H
#define TITAN_COMPILER_SEMA_ELABORATION_REPEATS_H

#include "compiler/sema/elaboration/Part.h"

namespace titan::sema {

class Repeats : Part {
public:
  explicit Repeats(Elaboration &parts) : Part(parts) {}

  void repeat(const syntax::RepeatStmt &stmt);

private:
  struct Iteration {
    size_t firstValue = 0; ///< of those that belong to the iteration
    Region body;
    std::vector<Value> results;
  };
  std::optional<DimId> dimension(const syntax::RepeatStmt &stmt);
  bool iterate(const syntax::RepeatStmt &stmt, const std::vector<std::string> &carried, DimId dim,
               int64_t index, Iteration &result);
  void runBody(const syntax::RepeatStmt &stmt, DimId dim, int64_t index);
  bool addVariant(const syntax::RepeatStmt &stmt, std::vector<Iteration> &variants, Iteration next,
                  std::vector<int64_t> &table);
  void finish(const syntax::RepeatStmt &stmt, const std::vector<std::string> &carried, DimId dim,
              std::vector<Iteration> variants, std::vector<int64_t> table);

  // Carried.cpp
  std::vector<std::string> carriedNames(const syntax::Body &body);
  /// Numbers that the repeat's body turns into tensors become such before it, so that they are
  /// carried.
  bool startAsTensors(const syntax::RepeatStmt &stmt, DimId dim);
  /// Of the numbers `before`, those that this iteration makes tensors of leave them.
  bool tryIteration(const syntax::RepeatStmt &stmt, DimId dim, int64_t index,
                    std::map<std::string, Value> &before);
  bool startAsTensor(const std::string &name, const TensorType &type,
                     const syntax::RepeatStmt &stmt);
};

} // namespace titan::sema

#endif
