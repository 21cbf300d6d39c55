//===- Generators.h - What draws cases of each operation --------*- C++ -*-===//
//
// One function an operation. An operation of the dialect that has none makes titan-check-ops fail:
// whoever adds an operation adds its generator here, and has its gradient and all its shardings
// tested.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_TESTS_OPS_GENERATORS_H
#define TITAN_TESTS_OPS_GENERATORS_H

#include "tests/ops/Draw.h"

#include <map>

namespace titan::ops {

/// By the operation's name without "titan.".
using Generators = std::map<std::string, Case (*)(Draw &), std::less<>>;

void addElementwiseGenerators(Generators &generators);
void addTensorGenerators(Generators &generators);
void addNeuralGenerators(Generators &generators);

} // namespace titan::ops

#endif // TITAN_TESTS_OPS_GENERATORS_H
