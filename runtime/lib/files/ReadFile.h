// Reading what may be damaged, on a failing disk or of another kind than expected: no read waits
// for a writer, or ends the process as a page of a mapped file does whose sector cannot be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace titan::rt {

/// Why a file cannot be read: an errno, or that it is no regular file. A number, so that ranks can
/// exchange it.
using ReadError = int64_t;
constexpr ReadError noReadError = 0, notRegular = -1;

/// In words, as of strerror().
std::string describe(ReadError error);

/// Passes a regular file's content on piece by piece, until `take` wants no more; gives why it
/// could not be read.
ReadError readChunks(const std::string &path,
                     const std::function<bool(std::span<const std::byte>)> &take);

/// The whole content. UserError "PATH: cannot be read: REASON", also where it has more than `limit`
/// bytes.
std::string readWholeFile(const std::string &path, size_t limit);

} // namespace titan::rt
