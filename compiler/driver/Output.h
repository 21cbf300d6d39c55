// Writes output files atomically.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"

#include "llvm/ADT/StringRef.h"

#include <sys/types.h>
#include <system_error>

namespace titan::driver {

/// Writes `content` to `output` by the writer of durable files (base/files/DurableFile.h): a file
/// or link is replaced by a synced and renamed file, so a running program is not overwritten, and a
/// full disk preserves the old file. A device and a pipe with a reader are written in place; a pipe
/// without a reader is an error. The umask restricts the permissions.
std::error_code writeOutput(llvm::StringRef content, const std::string &output,
                            mode_t permissions = 0666);

/// Replaces a regular file, likewise. The new one has exactly these permissions.
std::error_code replaceFile(const std::string &file, llvm::StringRef content, mode_t permissions);

/// Copies a file to a new place, likewise.
std::error_code copyOutput(const std::string &from, const std::string &to);

/// Syncs a file or a directory.
std::error_code sync(const std::string &path);

/// Reports that `file` cannot be written.
Diagnostic &reportWriteError(DiagnosticEngine &diags, llvm::StringRef file, std::error_code why);

} // namespace titan::driver
