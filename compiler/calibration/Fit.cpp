#include "compiler/calibration/Fit.h"

#include "base/Error.h"
#include "compiler/calibration/Median.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace titan::calibration {
namespace {

using Kernels = std::vector<Sample<KernelWork>>;

double getBytes(const KernelWork &work) {
  return work.bytesRead + work.bytesWritten;
}

double getOperations(const KernelWork &work) {
  return work.arithmetic + work.special;
}

/// The values of `get` for all loops with `holds`.
template <typename Holds, typename Get>
std::vector<double> collect(const Kernels &kernels, Holds holds, Get get) {
  std::vector<double> values;
  for (const Sample<KernelWork> &kernel : kernels)
    if (kernel.work.kind == KernelKind::Loop && holds(kernel.work))
      values.push_back(get(kernel));
  return values;
}

/// The list of measured kernels to which the work belongs; null for loops.
std::vector<MeasuredKernel> *findMeasured(const KernelWork &work, Device &device) {
  switch (work.kind) {
  case KernelKind::Product:
    return &device.products[work.type].measured;
  case KernelKind::Attention:
    return &device.products[work.type].attentionForward;
  case KernelKind::AttentionGradient:
    return &device.products[work.type].attentionBackward;
  case KernelKind::Loop:
    return nullptr;
  }
  return nullptr;
}

void fitProducts(const Kernels &kernels, Device &device) {
  for (const auto &[work, seconds] : kernels)
    if (std::vector<MeasuredKernel> *measured = findMeasured(work, device)) {
      measured->push_back({work.batch, work.m, work.n, work.k, work.flops, seconds});
      double &peak = device.products[work.type].peak;
      peak = std::max(peak, work.flops / seconds);
    }
}

void fitLaunch(const Kernels &kernels, Device &device) {
  constexpr double fewBytes = 4096, fewOperations = 1024;
  auto isTiny = [](const KernelWork &work) {
    return getBytes(work) <= fewBytes && getOperations(work) <= fewOperations;
  };
  auto launch = getMedian(collect(kernels, isTiny, [](const auto &each) { return each.seconds; }));
  device.launch = launch.value_or(device.launch);
}

/// The bandwidth of kernels that touch more than `minimum` and at most `maximum` bytes.
std::optional<double> fitBandwidth(const Kernels &kernels, double minimum, double maximum,
                                   double launch) {
  auto streams = [&](const KernelWork &work) {
    constexpr double bytesPerOperation = 4, bytesPerSpecial = 64;
    const double bytes = getBytes(work);
    return bytes > minimum && bytes <= maximum && work.special * bytesPerSpecial <= bytes &&
           work.arithmetic * bytesPerOperation <= bytes;
  };
  return getMedian(collect(kernels, streams, [&](const auto &each) {
    return getBytes(each.work) / std::max(each.seconds - launch, each.seconds / 2);
  }));
}

void fitMemory(const Kernels &kernels, const CacheSizes &caches, Device &device) {
  constexpr double smallest = 1 << 16; // the launch dominates less
  std::vector<MemoryLevel> levels;
  double below = smallest;
  for (double size : {caches.level2, caches.level3, std::numeric_limits<double>::infinity()}) {
    if (size <= below)
      continue;
    if (auto bandwidth = fitBandwidth(kernels, below, size, device.launch))
      levels.push_back({size, *bandwidth});
    below = size;
  }
  if (levels.empty())
    return;
  levels.back().bytes = std::numeric_limits<double>::infinity();
  device.levels = std::move(levels);
}

/// The seconds of a kernel beyond its launch.
double getLoopSeconds(const Sample<KernelWork> &kernel, const Device &device) {
  return std::max(kernel.seconds - device.launch, kernel.seconds / 2);
}

void fitArithmetic(const Kernels &kernels, Device &device) {
  constexpr double manyOperations = 1 << 16;
  auto computes = [](const KernelWork &work) {
    return work.special == 0 && work.arithmetic >= manyOperations &&
           work.arithmetic >= getBytes(work);
  };
  auto rate = getMedian(collect(kernels, computes, [&](const auto &each) {
    return each.work.arithmetic / getLoopSeconds(each, device);
  }));
  device.arithmetic = rate.value_or(device.arithmetic);
  auto isSpecial = [](const KernelWork &work) {
    return work.special >= manyOperations && work.special * 4 >= getOperations(work);
  };
  rate = getMedian(collect(kernels, isSpecial, [&](const auto &each) {
    const double seconds = getLoopSeconds(each, device);
    return each.work.special /
           std::max(seconds - each.work.arithmetic / device.arithmetic, seconds / 2);
  }));
  device.special = rate.value_or(device.special);
}

} // namespace

void fitDevice(const Kernels &kernels, const CacheSizes &caches, Device &device) {
  fitProducts(kernels, device);
  fitLaunch(kernels, device);
  fitMemory(kernels, caches, device);
  fitArithmetic(kernels, device);
}

Link fitLink(const std::vector<Sample<CollectiveWork>> &collectives, int64_t ranks) {
  if (collectives.empty())
    throw UserError("the profile has no collective");
  const double steps = static_cast<double>(ranks) - 1; // of a ring
  auto getSteps = [&](const CollectiveWork &work) {
    return steps * static_cast<double>(work.messages);
  };
  std::vector<Sample<CollectiveWork>> sorted = collectives;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto &a, const auto &b) { return a.work.bytesSent < b.work.bytesSent; });
  const size_t quarter = (sorted.size() + 3) / 4;
  std::vector<double> latencies;
  for (size_t i = 0; i < quarter; ++i)
    latencies.push_back(sorted[i].seconds / getSteps(sorted[i].work));
  Link link;
  link.name = "links";
  link.latency = *getMedian(std::move(latencies));
  double bytes = 0, seconds = 0;
  for (size_t i = sorted.size() - quarter; i < sorted.size(); ++i) {
    bytes += sorted[i].work.bytesSent;
    seconds += std::max(sorted[i].seconds - link.latency * getSteps(sorted[i].work),
                        sorted[i].seconds / 2);
  }
  link.bandwidth = bytes / seconds;
  return link;
}

} // namespace titan::calibration
