// Registration with MLIR tools.
//
// Registers Titan's dialects, interface models and passes.
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace titan {

/// Inserts Titan's dialects and `func`, and attaches the models of their interfaces.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers Titan's passes and pipelines with MLIR's global registry, for command lines.
void registerPasses();

} // namespace titan
