// How fast a device is at best, where its maker publishes it: what a run's rate is held against.
#pragma once

#include <optional>
#include <string_view>

namespace titan::rt {

/// Dense products of bf16 with sums in f32, in TFLOP/s, of a device that calls itself so. Nothing
/// of any other device, nor of a slice of one, nor of another element type ("f32"): peaks are not
/// guessed.
std::optional<double> publishedPeakTflops(std::string_view device, std::string_view elementType);

} // namespace titan::rt
