// A device that several ranks use, such as the cores of a CPU.
#pragma once

#include "base/machine/Machine.h"

namespace titan {

/// What each of `ranks` ranks has of a CPU: an equal part of its cores, rates, caches and memory.
/// GPUs are not shared.
inline Device getDeviceOfRank(Device device, double ranks) {
  if (device.isCuda || ranks <= 1)
    return device;
  device.cores /= ranks;
  device.memory /= ranks;
  device.arithmetic /= ranks;
  device.special /= ranks;
  for (auto &[type, rates] : device.products) {
    rates.peak /= ranks;
    for (auto *measured : {&rates.measured, &rates.attentionForward, &rates.attentionBackward})
      for (MeasuredKernel &kernel : *measured)
        kernel.seconds *= ranks;
  }
  for (MemoryLevel &level : device.levels) {
    level.bytes /= ranks;
    level.bandwidth /= ranks;
  }
  return device;
}

} // namespace titan
