// Published peak rates of devices, the reference for `mfu`.
#pragma once

#include <optional>
#include <string_view>

namespace titan::rt {

/// The TFLOP/s of dense bf16 products with f32 sums, for a device with exactly this name. Empty for
/// other devices, MIG slices and element types ("f32"): peaks are not guessed.
std::optional<double> publishedPeakTflops(std::string_view device, std::string_view elementType);

} // namespace titan::rt
