#include "Main.h"

#include "base/cli/StandardStreams.h"
#include "launch/WaitPolicy.h"
#include "loop/StopSignal.h"

/// Blocks signals until handlers are installed.
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
begin(int argc, char **argv, char **environment) {
  titan::openStandardStreams();
  titan::rt::blockStopSignals();
  titan::rt::shortenSpinning(argc, argv, environment);
}

// The dynamic loader calls it before the constructors of libraries.
__attribute__((section(".preinit_array"), used)) static void (*beforeLibraries)(int, char **,
                                                                                char **) = begin;

int main(int argc, char **argv) {
  return titan::rt::runMain(argc, argv);
}
