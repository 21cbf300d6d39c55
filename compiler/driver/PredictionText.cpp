#include "compiler/driver/PredictionText.h"

#include "llvm/Support/FormatVariadic.h"

namespace titan::driver {

std::string printGiB(double bytes) {
  return llvm::formatv("{0:F2} GiB", bytes / (1 << 30)).str();
}

std::string printSeconds(double seconds) {
  const auto [factor, unit] = seconds >= 1      ? std::pair(1.0, "s")
                              : seconds >= 1e-3 ? std::pair(1e3, "ms")
                                                : std::pair(1e6, "us");
  return llvm::formatv(seconds * factor >= 100  ? "{0:F0} {1}"
                       : seconds * factor >= 10 ? "{0:F1} {1}"
                                                : "{0:F2} {1}",
                       seconds * factor, unit)
      .str();
}

std::string printPercent(double fraction) {
  return llvm::formatv("{0:F1} %", 100 * fraction).str();
}

std::vector<std::pair<std::string, double>> listComponents(const StepTime &time) {
  std::vector<std::pair<std::string, double>> components{{"matrix products", time.products},
                                                         {"attention", time.attention},
                                                         {"other kernels", time.loops},
                                                         {"waits for other stages", time.bubble}};
  for (const auto &[axes, seconds] : time.exposed)
    components.emplace_back("waits for messages over " + axes, seconds);
  return components;
}

} // namespace titan::driver
