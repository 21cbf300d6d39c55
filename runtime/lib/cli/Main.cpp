#include "titan/runtime/main.h"

int main(int argc, char **argv) {
  return titan::rt::runMain(argc, argv);
}
