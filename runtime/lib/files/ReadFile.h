// Reads files that may be damaged, on a failing disk, or of an unexpected kind. Reads never block
// on a pipe, and a bad sector does not end the process as it would with a mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace titan::rt {

/// Why a file cannot be read: an errno, or notRegular. A number, so that ranks can exchange it.
using ReadError = int64_t;
constexpr ReadError noReadError = 0, notRegular = -1;

/// A description, like strerror().
std::string describe(ReadError error);

/// Passes a regular file's content to `take` in chunks until it returns false; returns the error,
/// if any.
ReadError readChunks(const std::string &path,
                     const std::function<bool(std::span<const std::byte>)> &take);

/// The complete content. UserError "PATH: cannot be read: REASON", also for more than `limit`
/// bytes.
std::string readWholeFile(const std::string &path, size_t limit);

} // namespace titan::rt
