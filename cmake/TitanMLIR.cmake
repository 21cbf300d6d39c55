# MLIR 19 from Debian's packages, as shared libraries: tools stay small and link in a second, and
# pass plugins resolve their symbols in the one libMLIR.so of the process.
find_package(MLIR 19.1 REQUIRED CONFIG PATHS /usr/lib/llvm-19/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR}) # else mlir-doc writes to /docs
# LLVM's rules use Ninja's names of generated files. CMake since 3.20 would rename them again, and every
# build would regenerate them.
cmake_policy(SET CMP0116 OLD)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(titan_mlir INTERFACE)
target_include_directories(titan_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(TITAN_LLVM_DEFINITIONS NATIVE_COMMAND ${LLVM_DEFINITIONS})
target_compile_options(titan_mlir INTERFACE ${TITAN_LLVM_DEFINITIONS})
target_link_libraries(titan_mlir INTERFACE MLIR LLVM)
