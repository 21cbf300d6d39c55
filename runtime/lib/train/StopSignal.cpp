#include "StopSignal.h"

#include <csignal>
#include <initializer_list>

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
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction inherited = {};
    sigaction(signal, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) // as nohup starts it, and a shell in the background
      sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

int stopSignal() {
  return received;
}

} // namespace titan::rt
