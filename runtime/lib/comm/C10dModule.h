// The interface of libtitan_c10d.so, the module with all code over LibTorch's c10d. The module is
// next to the runtime's libraries and is loaded by programs with more than one process.
//
// A program is linked with one version of the runtime and may find a module of another version.
// Both therefore contain TITAN_C10D_INTERFACE, a checksum of the headers whose types cross the
// interface (runtime/CMakeLists.txt).
#pragma once

namespace titan::rt {

struct LaunchInfo;
struct CommOptions;
class Rendezvous;

/// The module's entry point. Returns null if `interface` is not the module's own, else a rendezvous
/// that the caller owns. Throws Fault.
extern "C" Rendezvous *titanConnectC10d(const char *interface, const LaunchInfo &launch,
                                        const CommOptions &options);

} // namespace titan::rt
