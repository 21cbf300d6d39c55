// Generators of cases: functions that draw a random use of one operation.
//
// titan-check-ops fails if an operation of the dialect has no generator. A new operation with a
// generator has its gradient and all its shardings tested.
#pragma once

#include "tests/ops/Draw.h"

#include <map>

namespace titan::ops {

/// By mnemonic.
using Generators = std::map<std::string, Case (*)(Draw &), std::less<>>;

void addElementwiseGenerators(Generators &generators);
void addTensorGenerators(Generators &generators);
void addNeuralGenerators(Generators &generators);

} // namespace titan::ops
