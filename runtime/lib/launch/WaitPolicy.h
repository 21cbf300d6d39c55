// How OpenMP's threads wait for one another. libgomp lets them spin for some ten milliseconds
// before they sleep, which steals the core from the very thread that is waited for as soon as a
// machine has more to do than cores; a step then takes several times as long. A shorter while loses
// nothing on a quiet machine (docs/rationale/runtime.md has figures).
//
// libgomp reads the environment in its constructor, before main. So the program starts itself again
// with the variable set, from .preinit_array: that is before any library's constructors, which are
// what takes time, so that it costs ten milliseconds and not the start twice.
#pragma once

namespace titan::rt {

/// Starts the program again with GOMP_SPINCOUNT set, unless that or OMP_WAIT_POLICY is. Returns
/// where nothing is to be done, or where it cannot be. For .preinit_array alone.
void shortenSpinning(int argc, char **argv, char **environment);

} // namespace titan::rt
