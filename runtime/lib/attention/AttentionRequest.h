// The attention kernels that the environment selects, for comparisons and measurements.
#pragma once

namespace titan::rt {

/// TITAN_ATTENTION. `flash`, the default: on devices, LibTorch's flash attention computes what it
/// supports. `own`: the runtime's kernels compute all. Throws UserError for another word.
bool isFlashAttentionWanted();

} // namespace titan::rt
