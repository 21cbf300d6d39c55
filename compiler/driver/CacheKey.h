// What names an executable in the cache: everything that it depends on, so that one which is found
// is the one that would be made.
#ifndef TITAN_COMPILER_DRIVER_CACHEKEY_H
#define TITAN_COMPILER_DRIVER_CACHEKEY_H

#include "compiler/driver/Toolchain.h"

namespace titan::driver {

/// The name of this machine's processor and what it can do, which `-march=native` compiles for. A
/// home directory is often shared by machines that differ.
std::string describeProcessor();

/// The hash of the source, the commands, the compilers and the libraries, and of `processor` where
/// a command asks for the one at hand. Files count by size and time: reading them, or asking a
/// compiler for its version, would cost an unchanged program more than it takes to start.
std::string cacheKey(llvm::StringRef source, const Toolchain &toolchain, llvm::StringRef processor);

} // namespace titan::driver

#endif
