// How many processes a mesh is for: known when a program is compiled, but for an axis that is
// `auto`.
#ifndef TITAN_COMPILER_DRIVER_PROCESSES_H
#define TITAN_COMPILER_DRIVER_PROCESSES_H

#include "compiler/driver/CompilerInstance.h"

namespace titan::driver {

/// The least number of processes that can run the mesh: the product of its fixed degrees.
int64_t leastProcesses(const sema::Mesh &mesh);
/// The degree that `auto` gets when so many processes are started, 1 where no axis is `auto`. Zero,
/// once reported, where they do not fit the mesh.
int64_t autoDegree(const sema::Mesh &mesh, int64_t processes, DiagnosticEngine &diags);
/// The same, and zero, too, where the model's dimensions cannot be split so.
int64_t autoDegree(CompilerInstance &instance, const sema::CheckedRun &run, int64_t processes);

} // namespace titan::driver

#endif
