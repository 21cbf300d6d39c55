// A plugin: ln(1 + e^x) without overflow.
//
// Programs contain log(1 + exp(x)), which is infinite in float32 from x = 89 on. A pass replaces
// the expression by one operation. The operation implements Titan's interfaces: its gradient, its
// sharding rule, its semantics, and its formula max(x, 0) + ln(1 + e^-|x|) as C++. As an
// elementwise operation it is fused with its neighbours and emitted in their loop.
#pragma once

#include "dialects/titan/Interfaces/TitanInterfaces.h"

#include "SoftplusDialect.h.inc"
#define GET_OP_CLASSES
#include "Softplus.h.inc"

namespace softplus {

/// Registers --raise-softplus.
void registerRaisePass();

} // namespace softplus
