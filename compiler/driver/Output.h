// Writes output files atomically.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <system_error>

namespace titan::driver {

/// Writes `content` to `output`. A file or link is replaced by a synced and renamed file, so a
/// running program is not overwritten, and a full disk preserves the old file. A device and a pipe
/// with a reader are written in place; a pipe without a reader is an error.
std::error_code writeOutput(llvm::StringRef content, const std::string &output, bool isExecutable);

/// Writes a synced new file with these permissions, restricted by the umask.
std::error_code writeNewFile(const std::string &file, llvm::StringRef content, unsigned mode);

/// Syncs a file or a directory.
std::error_code sync(const std::string &path);

/// Reports that `file` cannot be written.
Diagnostic &reportWriteError(DiagnosticEngine &diags, llvm::StringRef file, std::error_code why);

} // namespace titan::driver
