// What titanc writes: files replaced as a whole, or not at all.
#ifndef TITAN_COMPILER_DRIVER_OUTPUT_H
#define TITAN_COMPILER_DRIVER_OUTPUT_H

#include "compiler/diagnostics/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <system_error>

namespace titan::driver {

/// Puts `content` at `output`. A file, and a link, is replaced by a synced and renamed file, so
/// that a program that runs is not overwritten and an old file stays where the disk is full. A
/// device and a pipe that somebody reads are written to; a pipe that nobody reads is an error.
std::error_code writeOutput(llvm::StringRef content, const std::string &output, bool isExecutable);

/// Writes a synced file that did not exist, with these permissions as far as the umask lets them.
std::error_code writeNewFile(const std::string &file, llvm::StringRef content, unsigned mode);

/// Syncs a file or a directory.
std::error_code sync(const std::string &path);

/// Reports that `file` cannot be written.
Diagnostic &reportWriteError(DiagnosticEngine &diags, llvm::StringRef file, std::error_code why);

} // namespace titan::driver

#endif
