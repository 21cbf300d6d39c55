// Asks the operating system for pages of memory or of mapped files before their first use.
#pragma once

#include <cstddef>
#include <span>

namespace titan::rt {

/// Asks the system for all pages of memory that will be written, by all threads. At their first
/// use, several threads that write to one page would each wait, and often clear it once more. Does
/// nothing on systems without this request.
void populate(std::span<std::byte> memory);

/// Asks the system to begin reading a part of a mapped file from its disk, and does not wait.
void readAhead(std::span<const std::byte> mapped);

} // namespace titan::rt
