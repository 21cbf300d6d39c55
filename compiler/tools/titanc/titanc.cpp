// The compiler's main. See compiler/driver for what it does.
#include "compiler/driver/Commands.h"

#include "titan/runtime/standard_streams.h"

int main(int argc, char **argv) {
  titan::rt::openStandardStreams();
  return titan::driver::runTitanc(argc, argv);
}
