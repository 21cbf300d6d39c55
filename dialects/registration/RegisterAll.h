//===- RegisterAll.h - Registration with MLIR tools -------------*- C++ -*-===//
//
// Registers Titan's dialects, interface models and passes.
//
//===----------------------------------------------------------------------===//

#ifndef TITAN_DIALECTS_REGISTRATION_REGISTERALL_H
#define TITAN_DIALECTS_REGISTRATION_REGISTERALL_H

namespace mlir {
class DialectRegistry;
}

namespace titan {

/// Inserts Titan's dialects and `func`, and attaches the models of their interfaces.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers Titan's passes and pipelines with MLIR's global registry, for command lines.
void registerPasses();

} // namespace titan

#endif // TITAN_DIALECTS_REGISTRATION_REGISTERALL_H
