// The compiler's main. See compiler/driver for what it does.
#include "compiler/driver/Commands.h"

int main(int argc, char **argv) {
  return titan::driver::runTitanc(argc, argv);
}
