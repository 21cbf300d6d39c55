# Two thirds of what a compiler spends on a file that uses MLIR go into MLIR's headers; read once and
# kept, a build takes half the time. Not the default: a second build from ccache is faster still, and
# ccache keeps only clang's precompiled headers (and needs CCACHE_SLOPPINESS=pch_defines,time_macros).
# Included after the targets.
option(TITAN_PRECOMPILE_HEADERS "Read MLIR's headers once for all files that use them" OFF)
if(NOT TITAN_PRECOMPILE_HEADERS)
  return()
endif()
target_precompile_headers(titan_dialects PRIVATE
  <algorithm> <map> <set> <string> <vector>
  <llvm/ADT/MapVector.h> <llvm/ADT/SetVector.h> <llvm/ADT/StringExtras.h> <llvm/ADT/TypeSwitch.h>
  <llvm/Support/FormatVariadic.h>
  <mlir/Bytecode/BytecodeOpInterface.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h>
  <mlir/IR/DialectImplementation.h> <mlir/IR/IRMapping.h> <mlir/IR/OpImplementation.h>
  <mlir/IR/SymbolTable.h>
  <mlir/Interfaces/FunctionInterfaces.h> <mlir/Interfaces/InferTypeOpInterface.h>
  <mlir/Interfaces/SideEffectInterfaces.h>
  <mlir/Pass/Pass.h> <mlir/Pass/PassManager.h>)
foreach(target titan_driver titan_emission titan_interpreter titan_lowering titan_pipelines titan_plan)
  target_precompile_headers(${target} REUSE_FROM titan_dialects)
endforeach()
