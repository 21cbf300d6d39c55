// The main function of an emitted program: command line, launch, training or generation, exit
// status. The library titan_runtime_main contains a main() that calls it.
#pragma once

namespace titan::rt {

/// Runs the program that programMesh() and program() describe; returns the exit status
/// (base/Error.h).
int runMain(int argc, char **argv);

} // namespace titan::rt
