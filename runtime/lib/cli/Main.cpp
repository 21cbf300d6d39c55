#include "titan/runtime/main.h"

#include "launch/WaitPolicy.h"

// Called by the dynamic loader before the constructors of the libraries.
__attribute__((section(".preinit_array"),
               used)) static void (*beforeLibraries)(int, char **,
                                                     char **) = titan::rt::shortenSpinning;

int main(int argc, char **argv) {
  return titan::rt::runMain(argc, argv);
}
