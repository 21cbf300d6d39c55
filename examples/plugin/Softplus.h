//===- Softplus.h - A plugin: ln(1 + e^x) without overflow ------*- C++ -*-===//
//
// Programs write log(1 + exp(x)), which is infinite in float32 from x = 89 on. One pass, after the
// model phase, finds that and makes it an operation; the operation brings its gradient, its
// sharding rule and its meaning; another pass, after the shard phase, takes it apart into what
// Titan knows: max(x, 0) + ln(1 + e^-|x|).
//
//===----------------------------------------------------------------------===//

#ifndef SOFTPLUS_H
#define SOFTPLUS_H

#include "dialects/titan/Interfaces/TitanInterfaces.h"

#include "SoftplusDialect.h.inc"
#define GET_OP_CLASSES
#include "Softplus.h.inc"

namespace softplus {

/// Registers --raise-softplus and --lower-softplus.
void registerRaisePass();
void registerLowerPass();

} // namespace softplus

#endif // SOFTPLUS_H
