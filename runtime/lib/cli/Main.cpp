#include "Main.h"

#include "base/cli/StandardStreams.h"
#include "launch/WaitPolicy.h"
#include "loop/StopSignal.h"

/// A signal that comes before anybody can answer it waits until one can.
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
begin(int argc, char **argv, char **environment) {
  titan::openStandardStreams();
  titan::rt::blockStopSignals();
  titan::rt::shortenSpinning(argc, argv, environment);
}

// Called by the dynamic loader before the constructors of the libraries.
__attribute__((section(".preinit_array"), used)) static void (*beforeLibraries)(int, char **,
                                                                                char **) = begin;

int main(int argc, char **argv) {
  return titan::rt::runMain(argc, argv);
}
