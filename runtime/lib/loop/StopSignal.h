// Signals to a training run. Handlers record them, and the loop acts on them.
//
//   SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR2, SIGXCPU   save and end with status 75; so do
//   SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT  the other signals that would end it
//   SIGUSR1                                              save and continue
//   SIGPIPE, SIGXFSZ                                     ignored: the writer gets an error
//
// Signals that were ignored at the start stay ignored (nohup). Launchers forward signals that the
// system has already delivered, so further signals within 10 seconds belong to the same request. A
// later one ends the process immediately, and so does SIGINT, which comes from the keyboard, after
// 2 seconds.
//
// An unanswered request (a step that hangs) ends the process 60 seconds (TITAN_STOP_TIMEOUT) after
// the signal, or after three times the longest step if that is later. Saving may take ten times as
// long.
#pragma once

#include <string>

namespace titan::rt {

/// The training command calls it once, before it waits for other processes. Throws UserError if
/// TITAN_STOP_TIMEOUT is not a number of seconds.
void catchStopSignals();
/// For other commands: signals have their default effect, including pending ones.
void unblockStopSignals();
/// Blocks the signals until one of the above, by system calls only, before the C library is ready.
void blockStopSignals();

/// Stops the process, as by SIGTERM, when its parent ends.
void stopWithParent();

/// The stop signal, or 0.
int stopSignal();
/// "SIGTERM".
std::string signalName(int signal);

/// Whether SIGUSR1 was received since the last acknowledgement. An acknowledgement also covers
/// signals of the next seconds, which other ranks receive later.
bool saveSignal();
void acknowledgeSaveSignal();

/// The activity of the process, which determines the time limit of a request.
enum class StopPhase { Starting, Running, Saving };
void enterStopPhase(StopPhase phase);
/// Call it after every step.
void noteStep(double seconds);

} // namespace titan::rt
