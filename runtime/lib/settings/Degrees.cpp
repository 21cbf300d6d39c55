#include "Degrees.h"

#include "base/Error.h"
#include "base/text/Counted.h"

#include <algorithm>

#include <fmt/format.h>

namespace titan::rt {

namespace {

std::string describe(std::span<const Axis> mesh) {
  std::string text;
  for (const Axis &axis : mesh) {
    if (axis.degree == 1)
      continue;
    text += text.empty() ? " (" : " x ";
    text += axis.degree == 0 ? axis.name + " auto" : fmt::format("{} {}", axis.name, axis.degree);
  }
  return text.empty() ? "" : text + ")";
}

std::string formatCommand(int64_t ranks, const std::string &program) {
  return ranks == 1 ? program
                    : fmt::format("torchrun --no-python --nproc-per-node {} {}", ranks, program);
}

} // namespace

std::vector<int64_t> resolveDegrees(std::span<const Axis> mesh, int64_t ranks,
                                    const std::string &program) {
  int64_t fixed = 1;
  bool hasAuto = false;
  for (const Axis &axis : mesh) {
    fixed *= axis.degree == 0 ? 1 : axis.degree;
    hasAuto |= axis.degree == 0;
  }
  if (hasAuto ? ranks % fixed != 0 : ranks != fixed) {
    int64_t wanted = hasAuto ? std::max(fixed, ranks / fixed * fixed) : fixed;
    throw UserError(fmt::format("needs {}{}{}, launched with {}; try: {}",
                                hasAuto ? "a multiple of " : "", counted(fixed, "rank"),
                                describe(mesh), ranks, formatCommand(wanted, program)));
  }
  std::vector<int64_t> degrees;
  int64_t left = ranks / fixed;
  for (const Axis &axis : mesh) {
    degrees.push_back(axis.degree == 0 ? left : axis.degree);
    if (axis.degree == 0)
      left = 1;
  }
  return degrees;
}

} // namespace titan::rt
