// Pictures in the format PNG (W3C, Portable Network Graphics, third edition), without compression:
// the data are one zlib stream of stored blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace titan {

/// The content of a file. `pixels` are [height, width, colours], row-major; `colours` is 1 (grey),
/// 3 (red, green, blue) or 4 (with opacity).
std::string encodePng(std::span<const uint8_t> pixels, int64_t height, int64_t width,
                      int64_t colours);

} // namespace titan
