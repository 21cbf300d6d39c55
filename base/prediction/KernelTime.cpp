#include "base/prediction/KernelTime.h"

#include "base/Error.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace titan {

static const ProductRates &findRates(const KernelWork &work, const Device &device) {
  auto found = device.products.find(work.type);
  if (found == device.products.end())
    throw UserError("the machine has no `peak." + work.type + "`, the rate of products of " +
                    work.type);
  return found->second;
}

/// The mean of the nearest measured kernels' efficiencies, by inverse squared distance of the
/// logarithms of their sizes.
static double interpolate(const KernelWork &work, const std::vector<MeasuredKernel> &measured,
                          double peak) {
  constexpr size_t numNeighbours = 4;
  auto getPoint = [](double batch, double m, double n, double k) {
    return std::array{std::log(batch), std::log(m), std::log(n), std::log(k)};
  };
  const auto wanted = getPoint(work.batch, work.m, work.n, work.k);
  std::vector<std::pair<double, double>> found; // squared distance, efficiency
  for (const MeasuredKernel &kernel : measured) {
    const auto point = getPoint(kernel.batch, kernel.m, kernel.n, kernel.k);
    double distance = 0;
    for (size_t i = 0; i < point.size(); ++i)
      distance += (point[i] - wanted[i]) * (point[i] - wanted[i]);
    found.emplace_back(distance, kernel.flops / (peak * kernel.seconds));
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), numNeighbours));
  double weights = 0, sum = 0;
  for (auto [distance, efficiency] : found) {
    const double weight = 1 / (distance + 1e-6);
    weights += weight;
    sum += weight * efficiency;
  }
  return sum / weights;
}

static double getAttentionEfficiency(const KernelWork &work, const Device &device) {
  const ProductRates &rates = findRates(work, device);
  const bool isForward = work.kind == KernelKind::Attention;
  const auto &measured = isForward ? rates.attentionForward : rates.attentionBackward;
  if (!measured.empty())
    return interpolate(work, measured, rates.peak);
  return isForward ? device.attentionForward : device.attentionBackward;
}

double getProductEfficiency(const KernelWork &work, const Device &device) {
  if (const ProductRates &rates = findRates(work, device); !rates.measured.empty())
    return interpolate(work, rates.measured, rates.peak);
  const double blocks =
      work.batch * std::ceil(work.m / device.tileRows) * std::ceil(work.n / device.tileColumns);
  // A division along k fills a wave that is not full, as long as its segments are deep enough.
  const double maxSegments =
      std::max(1.0, std::floor(work.k / (4 * std::max(1.0, device.halfDepth))));
  const double segments = std::min(maxSegments, std::max(1.0, std::floor(device.cores / blocks)));
  const double waves = std::ceil(blocks * segments / device.cores);
  const double edge =
      work.batch * work.m * work.n / (blocks * device.tileRows * device.tileColumns);
  const double depth = work.k / segments;
  return device.productEfficiency * depth / (depth + device.halfDepth) * edge *
         (blocks * segments / (waves * device.cores));
}

/// The bandwidth of the smallest level that holds all that the kernel touches.
static double getBandwidth(double bytes, const Device &device) {
  for (const MemoryLevel &level : device.levels)
    if (bytes <= level.bytes)
      return level.bandwidth;
  return device.levels.back().bandwidth;
}

static double getArithmeticSeconds(const KernelWork &work, const Device &device) {
  switch (work.kind) {
  case KernelKind::Product:
    // A product with one row or column runs as a loop if that takes less.
    return std::min(work.flops /
                        (findRates(work, device).peak * getProductEfficiency(work, device)),
                    work.flops / device.arithmetic);
  case KernelKind::Attention:
  case KernelKind::AttentionGradient:
    return work.flops / (findRates(work, device).peak * getAttentionEfficiency(work, device));
  case KernelKind::Loop:
    return work.arithmetic / device.arithmetic + work.special / device.special;
  }
  return 0;
}

double getKernelSeconds(const KernelWork &work, const Device &device) {
  const double bytes = work.bytesRead + work.bytesWritten;
  return std::max(getArithmeticSeconds(work, device), bytes / getBandwidth(bytes, device));
}

} // namespace titan
