// The rates of a machine from measured kernels and collectives.
#pragma once

#include "base/machine/Machine.h"
#include "compiler/calibration/Samples.h"

namespace titan::calibration {

/// Sizes of caches in bytes, of all cores; 0: none.
struct CacheSizes {
  double level2 = 0, level3 = 0;
};

/// Fits the rates of `machine.device` to kernels that used the complete device:
/// - products and attention: each kernel is an entry of a table; the fastest is the peak of its
/// type,
/// - launch: the median of kernels that do next to nothing,
/// - bandwidths: the median of kernels that read and write much for their arithmetic, for each
/// cache
///   by the bytes that they touch,
/// - arithmetic and special functions: the median of kernels that compute much.
/// Rates without a sample stay as they are. Caches without a sample are left out.
void fitDevice(const std::vector<Sample<KernelWork>> &kernels, const CacheSizes &caches,
               Device &device);

/// A link between `ranks` ranks of a machine: latency by the shortest messages, bandwidth by the
/// longest. Throws UserError without a collective.
Link fitLink(const std::vector<Sample<CollectiveWork>> &collectives, int64_t ranks);

} // namespace titan::calibration
