// The time of a kernel on a device by the roofline model (Williams, Waterman and Patterson, CACM
// 52, 2009): the longer of its arithmetic and its memory traffic.
#pragma once

#include "base/machine/Machine.h"
#include "base/prediction/StepProgram.h"

namespace titan {

/// The fraction of the peak that a matrix product reaches, from 0 to 1, apart from its memory
/// traffic: by the measured products of similar sizes, or else by
///   efficiency * k / (k + half depth) * (blocks of the result / blocks in all waves),
/// where the cores compute one block each in a wave. Products of few blocks are divided along k.
double getProductEfficiency(const KernelWork &work, const Device &device);

/// Seconds without the launch. Throws UserError if the device has no peak for the element type of a
/// product.
double getKernelSeconds(const KernelWork &work, const Device &device);

} // namespace titan
