// Collectives in flight on one rank.
//
// A collective may read its operands and write its results at any time between its start and its
// wait. The interpreter therefore keeps the results aside until the wait and poisons the result
// values with NaN. The wait reports an error if an operand or a poisoned result has changed.
#pragma once

#include "compiler/interpreter/Memory.h"
#include "dialects/dist/IR/DistOps.h"

#include <map>

namespace titan::interpreter {

class Flights {
public:
  /// `op` has started with `operands`; its result values are poisoned.
  mlir::LogicalResult start(mlir::Operation *op, std::vector<TensorRef> operands,
                            const Memory &memory);
  /// The results of `op` have arrived.
  void land(mlir::Operation *op, std::vector<ir::HostTensor> results);
  /// Whether `wait` can proceed; an error if it never will.
  mlir::FailureOr<bool> isReady(dist::WaitOp wait) const;
  /// Copies the arrived values to the results of `wait`.
  mlir::LogicalResult finish(dist::WaitOp wait, Memory &memory);
  /// Reports an error at `op` if a collective is in flight.
  mlir::LogicalResult checkNone(mlir::Operation *op) const;

private:
  struct Flight {
    mlir::Operation *start;
    std::vector<TensorRef> operands, poison;
    std::optional<std::vector<ir::HostTensor>> landed;
  };
  std::map<int64_t, Flight> flights; ///< by channel
};

} // namespace titan::interpreter
