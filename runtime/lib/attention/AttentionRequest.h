// The kernels of attention that the environment requests, to compare and measure them.
#pragma once

namespace titan::rt {

/// TITAN_ATTENTION. `flash`, the default: on devices, LibTorch's flash attention computes what it
/// supports. `own`: the runtime's kernels compute all. Throws UserError for another word.
bool isFlashAttentionWanted();

} // namespace titan::rt
