// The main function of the compiler; see compiler/driver.
#include "compiler/driver/Commands.h"

#include "base/cli/StandardStreams.h"

int main(int argc, char **argv) {
  titan::openStandardStreams();
  return titan::driver::runTitanc(argc, argv);
}
