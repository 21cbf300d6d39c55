// Libraries that are loaded on first use: LibTorch, and this runtime's module for it. LibTorch
// takes 70 MB of memory and much of a short run's time, and most single-process programs do not use
// it.
#pragma once

namespace titan::rt {

/// The handle of a library for dlsym; it stays loaded. The dynamic loader searches it like a linked
/// library: loaded already, in LD_LIBRARY_PATH, or in the program's folders. On failure, throws
/// Fault with `use` ("multiplies matrices") and a remedy. Do not call it first in a parallel
/// region.
void *openLibrary(const char *file, const char *use);

constexpr const char *kLibTorch = "libtorch_cpu.so";

} // namespace titan::rt
