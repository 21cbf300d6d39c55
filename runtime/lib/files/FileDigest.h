// One-line digests, to compare files of several machines without reading them completely.
#pragma once

#include <string>

namespace titan::rt {

/// "58392 bytes, CRC-32C 1b2c3d4e": of the complete file up to 16 MiB, else of 256 evenly spaced
/// blocks that include the first and the last ("of samples"). For a directory: names and digests of
/// its files. For an unreadable file: the reason.
std::string computeDigest(const std::string &path);

} // namespace titan::rt
