// What files are, in a line of text: to compare those of several machines without reading them
// whole.
#pragma once

#include <string>

namespace titan::rt {

/// "58392 bytes, CRC-32C 1b2c3d4e": of the whole file up to 16 MiB, above that of 256 blocks evenly
/// spread over it, the first and the last among them ("of samples"). Of a directory, its files'
/// names with these. What cannot be read says why.
std::string digestOf(const std::string &path);

} // namespace titan::rt
