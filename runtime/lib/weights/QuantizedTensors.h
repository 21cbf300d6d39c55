// Weights that other software stored in few bits, as tensors of ordinary floating-point numbers.
//
// | method, of transformers' `quant_method` | stored for a tensor W | W becomes |
// |---|---|---|
// | fp8 (DeepSeek-V3, Qwen3), compressed-tensors | W in F8_E4M3 or F8_E5M2, W_scale_inv or W_scale
// of blocks, rows or all | BF16 | | mxfp4 (gpt-oss; OCP microscaling formats 1.0, section 5.3) |
// W_blocks, W_scales | BF16 | | bitsandbytes, 4 bits (Dettmers et al. 2023, section 3; also with
// quantized constants) | W, W.absmax, W.quant_map, W.quant_state.* | its own type | | bitsandbytes,
// 8 bits (Dettmers et al. 2022, section 3) | P.weight in I8, P.SCB | F16 | | awq (Lin et al. 2023;
// the GEMM form) | P.qweight, P.qzeros, P.scales | F16 | | gptq (Frantar et al. 2022; 2, 4 and 8
// bits) | P.qweight, P.qzeros, P.scales, P.g_idx | F16 |
//
// Numbers are computed in f32 and rounded once. Nothing is decoded until it is read.
#pragma once

#include "LazyTensor.h"
#include "base/files/Safetensors.h"

#include <map>
#include <memory>
#include <string>

namespace titan::rt {

/// Replaces the parts of quantized tensors in `tensors` by the tensors that they mean; the parts
/// must outlive these. Errors, by name: UserError for parts whose shapes do not fit together.
std::map<std::string, std::unique_ptr<LazyTensor>>
replaceQuantized(std::map<std::string, const StoredTensor *> &tensors);

} // namespace titan::rt
