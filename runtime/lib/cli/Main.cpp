#include "Main.h"

#include "base/cli/StandardStreams.h"
#include "launch/WaitPolicy.h"
#include "loop/StopSignal.h"

/// Opens missing standard streams, blocks stop signals until handlers are installed, and limits
/// OpenMP's spinning.
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
prepareProcess(int argc, char **argv, char **environment) {
  titan::openStandardStreams();
  titan::rt::blockStopSignals();
  titan::rt::shortenSpinning(argc, argv, environment);
}

// The dynamic loader calls prepareProcess before the constructors of libraries.
__attribute__((section(".preinit_array"),
               used)) static void (*beforeLibraries)(int, char **, char **) = prepareProcess;

int main(int argc, char **argv) {
  return titan::rt::runMain(argc, argv);
}
