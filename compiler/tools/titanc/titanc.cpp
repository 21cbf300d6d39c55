// The main function of the compiler; see compiler/driver.
#include "compiler/driver/Commands.h"

#include "base/cli/StandardStreams.h"
#include "compiler/pipelines/PassRecorder.h"

int main(int argc, char **argv) {
  titan::openStandardStreams();
  titan::pipelines::reportCrashes("titanc");
  return titan::driver::runTitanc(argc, argv);
}
