// The main function of the compiler; see compiler/driver.
#include "compiler/driver/Commands.h"

#include "titan/runtime/standard_streams.h"

int main(int argc, char **argv) {
  titan::rt::openStandardStreams();
  return titan::driver::runTitanc(argc, argv);
}
