#include "StopSignal.h"

#include "base/Error.h"
#include "launch/CrashReport.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace titan::rt {

namespace {

constexpr int stopping[] = {SIGTERM, SIGINT,    SIGHUP,  SIGQUIT, SIGUSR2, SIGXCPU,
                            SIGALRM, SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGSTKFLT};
/// Seconds in which a further stop signal, SIGINT or save signal belongs to the same request.
constexpr int64_t sameRequest = 10, sameKey = 2, sameSave = 5;

std::atomic<int> received = 0; // the stop signal
std::atomic<int64_t> receivedAt = 0;
std::atomic<int64_t> deadline = 0;     // when the process ends without an answer
std::atomic<int> saves = 0;            // number of received SIGUSR1
std::atomic<int64_t> answeredAt = -60; // time of the last agreed save
int answered = 0;                      // value of `saves` at that time

std::atomic<StopPhase> phase = StopPhase::Starting;
std::atomic<int64_t> timeout = 60; // seconds, by TITAN_STOP_TIMEOUT
std::atomic<int64_t> limit = 60;   // seconds that the phase may take after a stop signal
double longestStep = 0;
pid_t parent = 0; // the launcher, if the process ends with it

/// The signal that the system sends when the parent ends.
int orphanSignal() {
  return SIGRTMIN + 1;
}

/// Seconds of a monotonic clock.
int64_t now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

/// Sets the deadline and an alarm at it.
void setDeadline() {
  const int64_t seconds = limit;
  deadline = now() + seconds;
  alarm(static_cast<unsigned>(seconds));
}

/// Ends the process after the deadline.
[[noreturn]] void exitUnsaved() {
  SafeText message;
  const char *name = sigabbrev_np(received);
  if (phase == StopPhase::Starting) {
    message << "stopped by SIG" << name << " while it started; nothing was trained";
    exitFromHandler(ExitStoppedBySignal, message);
  }
  message << "SIG" << name << " came " << (now() - receivedAt) << " s ago and "
          << (phase == StopPhase::Saving ? "the checkpoint is not saved yet"
                                         : "the step has not ended");
  addLocation(message);
  message << "; the process ends without saving";
  exitFromHandler(ExitFault, message);
}

extern "C" void rememberStop(int signal) {
  if (signal == orphanSignal()) {
    if (getppid() == parent) // only a thread of the launcher ended
      return;
    signal = SIGTERM;
  }
  if (signal == SIGALRM && received != 0 && now() >= deadline)
    exitUnsaved();
  if (received == 0) {
    receivedAt = now();
    received = signal;
    setDeadline();
    return;
  }
  const int64_t since = now() - receivedAt;
  if (since > (signal == SIGINT ? sameKey : sameRequest)) {
    std::signal(signal, SIG_DFL);
    raise(signal); // after this handler returns
  }
}

extern "C" void rememberSave(int) {
  if (now() - answeredAt > sameSave)
    ++saves;
}

/// Installs `handler` for a signal that is neither ignored nor handled.
void installHandler(int signal, void (*handler)(int)) {
  struct sigaction inherited = {};
  sigaction(signal, nullptr, &inherited);
  if (inherited.sa_handler != SIG_DFL)
    return;
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

int64_t parseTimeout(const char *text) {
  if (!text || !*text)
    return 60;
  char *end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end != '\0' || !(seconds >= 1 && seconds <= 1e6))
    throw UserError("the environment variable TITAN_STOP_TIMEOUT is '" + std::string(text) +
                    "', expected a number of seconds from 1 to 1000000");
  return static_cast<int64_t>(std::ceil(seconds));
}

} // namespace

// Must not allocate, and sanitizers are not initialised yet.
__attribute__((no_sanitize("address", "thread", "undefined"))) void blockStopSignals() {
  uint64_t mask = uint64_t{1} << (SIGUSR1 - 1);
  for (int signal : stopping)
    mask |= uint64_t{1} << (signal - 1);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, nullptr, sizeof mask);
}

void unblockStopSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  for (int signal : stopping)
    sigaddset(&set, signal);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

void catchStopSignals() {
  limit = timeout = parseTimeout(std::getenv("TITAN_STOP_TIMEOUT"));
  enterStopPhase(StopPhase::Starting);
  for (int signal : stopping)
    installHandler(signal, rememberStop);
  installHandler(SIGUSR1, rememberSave);
  std::signal(SIGPIPE, SIG_IGN);
  unblockStopSignals();
}

void stopWithParent() {
  parent = getppid();
  installHandler(orphanSignal(), rememberStop);
  prctl(PR_SET_PDEATHSIG, orphanSignal());
  if (getppid() != parent) // the parent has ended meanwhile
    raise(SIGTERM);
}

int stopSignal() {
  return received;
}

std::string signalName(int signal) {
  return std::string("SIG") + sigabbrev_np(signal);
}

bool saveSignal() {
  return saves != answered;
}

void acknowledgeSaveSignal() {
  answeredAt = now();
  answered = saves;
}

void enterStopPhase(StopPhase entered) {
  phase = entered;
  switch (entered) {
  case StopPhase::Starting:
    limit = std::min<int64_t>(10, timeout);
    break;
  case StopPhase::Running:
    limit = std::max(timeout.load(), static_cast<int64_t>(3 * longestStep));
    break;
  case StopPhase::Saving:
    limit = 10 * timeout;
    break;
  }
  if (received != 0)
    setDeadline();
}

void noteStep(double seconds) {
  if (seconds <= longestStep && received == 0)
    return;
  longestStep = std::max(longestStep, seconds);
  enterStopPhase(StopPhase::Running);
}

} // namespace titan::rt
