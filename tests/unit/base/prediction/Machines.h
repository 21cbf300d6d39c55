// Machines for tests: round numbers, so that times follow by hand.
#pragma once

#include "base/machine/Machine.h"

#include <limits>

namespace titan {

/// A GPU with 100 TFLOP/s of bf16, 1 TB/s and 10 cores; four of them in a node.
inline Machine makeMachine() {
  Machine machine;
  machine.name = "test";
  machine.device.isCuda = true;
  machine.device.memory = 80e9;
  machine.device.cores = 10;
  machine.device.products["bf16"].peak = 100e12;
  machine.device.levels = {{std::numeric_limits<double>::infinity(), 1e12}};
  machine.device.arithmetic = 10e12;
  machine.device.special = 1e12;
  machine.links = {{"near", 4, 100e9, 1e-6, 0.1}, {"far", 0, 10e9, 10e-6, 0.2}};
  return machine;
}

} // namespace titan
