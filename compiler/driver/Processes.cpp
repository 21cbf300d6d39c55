#include "compiler/driver/Processes.h"

#include <algorithm>

namespace titan::driver {

int64_t computeLeastProcesses(const sema::Mesh &mesh) {
  int64_t product = 1;
  for (const sema::Axis &axis : mesh.axes)
    if (__builtin_mul_overflow(product, std::max<int64_t>(axis.degree, 1), &product))
      return INT64_MAX; // more than any machine has
  return product;
}

/// "shard 2 x tp 2".
static std::string describe(const sema::Mesh &mesh) {
  std::string all;
  for (const sema::Axis &axis : mesh.axes)
    all += (all.empty() ? "" : " x ") + axis.name + " " +
           (axis.degree ? std::to_string(axis.degree) : "auto");
  return all;
}

int64_t autoDegree(const sema::Mesh &mesh, int64_t processes, DiagnosticEngine &diags) {
  int64_t least = computeLeastProcesses(mesh);
  bool hasAuto = std::any_of(mesh.axes.begin(), mesh.axes.end(),
                             [](const sema::Axis &axis) { return axis.degree == 0; });
  if (processes % least == 0 && (hasAuto || processes == least))
    return processes / least;
  diags
      .report(Code::ProcessesDoNotFit, {},
              std::to_string(processes) + (processes == 1 ? " process does" : " processes do") +
                  " not fit the mesh, " + describe(mesh))
      .help("start " + (hasAuto ? "a multiple of " : std::string()) + std::to_string(least));
  return 0;
}

int64_t autoDegree(CompilerInstance &instance, const sema::CheckedRun &run, int64_t processes) {
  int64_t degree = autoDegree(run.mesh, processes, instance.diags);
  if (degree <= 1)
    return degree;
  sema::Mesh mesh = run.mesh;
  for (sema::Axis &axis : mesh.axes)
    if (axis.degree == 0)
      axis.degree = degree;
  size_t errors = instance.diags.errorCount();
  sema::checkMesh(mesh, run.train, run.run, instance.diags);
  return instance.diags.errorCount() == errors ? degree : 0;
}

} // namespace titan::driver
