// The whole of an emitted program's main function: command line, launch, training or generation,
// exit status. The library titan_runtime_main holds a main() that calls it, so an emitted file need
// not.
#pragma once

namespace titan::rt {

/// Runs the program that programMesh() and program() describe; returns the exit status (error.h).
int runMain(int argc, char **argv);

} // namespace titan::rt
