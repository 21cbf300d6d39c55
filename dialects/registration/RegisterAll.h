//===- RegisterAll.h - Everything Titan adds to an MLIR tool ----*- C++ -*-===//
//
// One call for dialects with the models of their interfaces, one for passes. Tools call both.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_REGISTRATION_REGISTERALL_H
#define TITAN_DIALECTS_REGISTRATION_REGISTERALL_H

namespace mlir {
class DialectRegistry;
}

namespace titan {

/// Inserts Titan's dialects (and `func`) and attaches the interfaces' models to their operations.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers Titan's passes and pipelines with MLIR's global registry, for command lines.
void registerPasses();

} // namespace titan

#endif // TITAN_DIALECTS_REGISTRATION_REGISTERALL_H
