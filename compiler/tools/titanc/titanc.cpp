// The compiler's main. See compiler/driver for what it does.
#include "compiler/driver/Commands.h"

#include "base/cli/StandardStreams.h"

int main(int argc, char **argv) {
  titan::openStandardStreams();
  return titan::driver::runTitanc(argc, argv);
}
