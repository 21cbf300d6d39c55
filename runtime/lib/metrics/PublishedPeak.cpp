#include "PublishedPeak.h"

namespace titan::rt {

namespace {

struct Peak {
  std::string_view device; // full name: other variants of a chip differ in clock and units
  double tflops;
};

// From NVIDIA's data sheets "A100 Tensor Core GPU", "H100 Tensor Core GPU" (SXM, PCIe and NVL),
// "H200 Tensor Core GPU" (SXM) and "HGX B200". Since the H100, they state the rate with structured
// sparsity, which is twice the dense one.
constexpr Peak peaks[] = {
    {"NVIDIA A100-SXM4-40GB", 312}, {"NVIDIA A100-SXM4-80GB", 312}, {"NVIDIA A100-PCIE-40GB", 312},
    {"NVIDIA A100 80GB PCIe", 312}, {"NVIDIA H100 80GB HBM3", 989}, {"NVIDIA H100 NVL", 835},
    {"NVIDIA H100 PCIe", 756},      {"NVIDIA H200", 989},           {"NVIDIA B200", 2250},
};

} // namespace

std::optional<double> publishedPeakTflops(std::string_view device, std::string_view elementType) {
  if (elementType != "bf16")
    return std::nullopt;
  for (const Peak &peak : peaks)
    if (peak.device == device)
      return peak.tflops;
  return std::nullopt;
}

} // namespace titan::rt
