// Libraries that are loaded where something of them is used first: LibTorch, and this runtime's
// module over it. Loading LibTorch takes 70 MB of memory and a good part of a short run's time, and
// most programs of one process use nothing of it.
#pragma once

namespace titan::rt {

/// The handle of a library, for dlsym; it stays loaded to the process's end. It is found as the
/// dynamic loader finds what a program links, by LD_LIBRARY_PATH and the folders that the program
/// names; where the process has it already, that is it. Throws Fault, with `use` ("multiplies
/// matrices") and a remedy, where it cannot be loaded: not to be called first in a parallel region.
void *openLibrary(const char *file, const char *use);

constexpr const char *kLibTorch = "libtorch_cpu.so";

} // namespace titan::rt
