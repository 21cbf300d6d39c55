// The forms of quantized weights that programs read: runtime/lib/weights/QuantizedTensors.h. The
// names are those of `quant_method` in the configurations of `transformers`.
#pragma once

#include <array>
#include <string_view>

namespace titan {

inline constexpr std::array<std::string_view, 7> readableQuantMethods = {
    "fp8", "fbgemm_fp8", "compressed-tensors", "mxfp4", "bitsandbytes", "awq", "gptq"};

} // namespace titan
