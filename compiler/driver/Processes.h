// The number of processes of a mesh, which is a compile-time constant unless an axis is `auto`.
#pragma once

#include "compiler/driver/CompilerInstance.h"

namespace titan::driver {

/// The minimum number of processes for the mesh: the product of its fixed degrees.
int64_t computeLeastProcesses(const sema::Mesh &mesh);
/// The degree of `auto` for a number of processes, 1 without an `auto` axis. Zero, after a report,
/// if they do not fit the mesh.
int64_t autoDegree(const sema::Mesh &mesh, int64_t processes, DiagnosticEngine &diags);
/// Likewise, and zero if the degree does not divide the dimensions of the model.
int64_t autoDegree(CompilerInstance &instance, const sema::CheckedRun &run, int64_t processes);

} // namespace titan::driver
