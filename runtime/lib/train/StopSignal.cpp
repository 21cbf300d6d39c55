#include "StopSignal.h"

#include <csignal>

namespace titan::rt {

namespace {

volatile std::sig_atomic_t received = 0;

extern "C" void remember(int signal) {
  received = signal;
}

} // namespace

void catchStopSignals() {
  struct sigaction action = {};
  action.sa_handler = remember;
  // Reset after the first one, so that the second has the system's default effect.
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

int stopSignal() {
  return received;
}

} // namespace titan::rt
