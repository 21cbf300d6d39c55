// The cache key of an executable: a hash of all its inputs.
#pragma once

#include "compiler/driver/Toolchain.h"

namespace titan::driver {

/// The name and the features of the processor, for `-march=native`. Machines with different
/// processors often share a home directory.
std::string describeProcessor();

/// The hash of the source, the commands, the compilers and the libraries, and of `processor` if a
/// command compiles for the local one. Files count by size and time: reading them, or asking a
/// compiler for its version, would take longer than the start of an unchanged program.
std::string computeCacheKey(llvm::StringRef source, const Toolchain &toolchain,
                            llvm::StringRef processor);

} // namespace titan::driver
