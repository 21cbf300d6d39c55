// The wait policy of OpenMP threads. libgomp threads spin for about ten milliseconds before they
// sleep. On a machine with more runnable threads than cores, spinning takes the core from the
// awaited thread, and a step takes several times as long. Less spinning costs nothing on an idle
// machine (docs/rationale/runtime.md has figures).
//
// libgomp reads the environment in its constructor, before main. So the program executes itself
// again with the variable set, from .preinit_array. That is before the expensive constructors of
// libraries, so the restart costs ten milliseconds.
#pragma once

namespace titan::rt {

/// Executes the program again with GOMP_SPINCOUNT set, unless that or OMP_WAIT_POLICY is set.
/// Returns if there is nothing to do, or on failure. For .preinit_array only.
void shortenSpinning(int argc, char **argv, char **environment);

} // namespace titan::rt
