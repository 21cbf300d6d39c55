//===- Flights.h - What a rank has started and not waited for ---*- C++ -*-===//
//
// Between its start and its wait, a collective may read its operands and write its results at any
// moment. So what it gives is kept apart until the wait, the results hold nothing (NaN) meanwhile,
// and the wait complains if an operand changed or something else was written into a result.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_COMPILER_INTERPRETER_FLIGHTS_H
#define TITAN_COMPILER_INTERPRETER_FLIGHTS_H

#include "compiler/interpreter/Memory.h"
#include "dialects/dist/IR/DistOps.h"

#include <map>

namespace titan::interpreter {

class Flights {
public:
  /// `op` has started; `operands` is what it was given, and its results hold poison.
  mlir::LogicalResult start(mlir::Operation *op, std::vector<TensorRef> operands,
                            const Memory &memory);
  /// What `op` started has come.
  void land(mlir::Operation *op, std::vector<ir::HostTensor> results);
  /// True when `wait` can go on; an error where it never will.
  mlir::FailureOr<bool> isReady(dist::WaitOp wait) const;
  /// Gives `wait` its results.
  mlir::LogicalResult finish(dist::WaitOp wait, Memory &memory);
  /// Complains at `op` if anything is still in flight.
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

#endif // TITAN_COMPILER_INTERPRETER_FLIGHTS_H
