// Signals to a training run. Signal handlers record the signals, and the training loop acts on
// them.
//
//   SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR2, SIGXCPU     save and end with status 75
//   SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT  save and end with status 75
//   SIGUSR1                                                save and continue
//   SIGPIPE, SIGXFSZ                                       ignored: the writer gets an error
//
// Signals that were ignored at the start of the process (nohup) stay ignored. Launchers forward
// signals that the system has already delivered, so further signals within 10 seconds belong to the
// same request. A later signal ends the process immediately. A second SIGINT does so after 2
// seconds already, because it comes from the keyboard.
//
// If a step hangs, the process ends 60 seconds (TITAN_STOP_TIMEOUT) after the signal, or after
// three times the longest step if that is later. Saving may take ten times as long.
#pragma once

#include <string>

namespace titan::rt {

/// Installs the handlers. The training command calls this function once, before it waits for other
/// processes. Throws UserError if TITAN_STOP_TIMEOUT is not a number of seconds.
void catchStopSignals();
/// Gives signals their default effect, including pending ones. For all other commands.
void unblockStopSignals();
/// Blocks the signals until one of the two functions above is called. Uses only system calls,
/// because it runs before the C library is ready.
void blockStopSignals();

/// Stops the process, as by SIGTERM, when its parent ends.
void stopWithParent();

/// The number of the received stop signal, or 0.
int stopSignal();
/// The name of a signal, such as "SIGTERM".
std::string signalName(int signal);

/// Whether SIGUSR1 was received since the last acknowledgement. An acknowledgement also covers
/// signals of the next seconds, because other ranks may receive the same request later.
bool saveSignal();
void acknowledgeSaveSignal();

/// The activity of the process, which determines the time limit of a request.
enum class StopPhase { Starting, Running, Saving };
void enterStopPhase(StopPhase phase);
/// Records the duration of a step. The training loop calls this function after every step.
void noteStep(double seconds);

} // namespace titan::rt
