// How a program comes to c10d, which is LibTorch's: through libtitan_c10d.so, a module that lies
// beside the runtime's libraries and is loaded where there is more than one process.
//
// A program holds the runtime as it was when it was linked, and meets the module that is there when
// it starts. So both name the interface between them, TITAN_C10D_INTERFACE: a checksum, made by the
// build, of the headers whose types cross it (runtime/CMakeLists.txt).
#pragma once

namespace titan::rt {

struct LaunchInfo;
struct CommOptions;
class Rendezvous;

/// What the module exports. Null, where `interface` is not its own; else the caller's. Throws
/// Fault.
extern "C" Rendezvous *titanConnectC10d(const char *interface, const LaunchInfo &launch,
                                        const CommOptions &options);

} // namespace titan::rt
