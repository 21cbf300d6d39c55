// The functions that a rank runs.
//
// A rank runs one function after the other. The interpreter asks a script for the next one whenever
// a rank has finished, and tries again later while the rank must wait for a value of another rank.
#pragma once

#include "compiler/interpreter/Device.h"

namespace titan::interpreter {

class Script {
public:
  virtual ~Script() = default;

  /// A device at the start of the next function of `rank`; null if the rank has finished, or waits.
  virtual mlir::FailureOr<std::unique_ptr<Device>> start(int64_t rank) = 0;
  /// Takes the results of the function that `device` has run.
  virtual mlir::LogicalResult finish(const Device &device) = 0;
  virtual bool isFinished(int64_t rank) const = 0;
  /// Describes the event that `rank` waits for while it runs no function.
  virtual std::string describeWait(int64_t rank) const = 0;
};

} // namespace titan::interpreter
