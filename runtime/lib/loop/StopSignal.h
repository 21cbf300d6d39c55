// Signals that ask a training run for something, remembered until the loop looks at them.
//
//   SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR2, SIGXCPU   save and end with status 75; so do
//   SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT  the other signals that would end it
//   SIGUSR1                                              save and go on
//   SIGPIPE, SIGXFSZ                                     ignored: who writes gets the error
//
// What was ignored at the start stays ignored (nohup). Launchers pass a signal on that the system
// has delivered already, so more signals within 10 seconds are the same request; a later one ends
// the process at once, and so does SIGINT, which people send from the keyboard, after 2 seconds.
//
// A request that is not answered in time (a step that hangs) ends the process all the same: 60
// seconds, or TITAN_STOP_TIMEOUT seconds, after the signal, or three times the longest step so far.
// Saving may take ten times as long.
#pragma once

#include <string>

namespace titan::rt {

/// The training command calls it once, before it waits for other processes. Throws UserError where
/// TITAN_STOP_TIMEOUT is no number of seconds.
void catchStopSignals();
/// Other commands: signals have the system's effect, also those that came until now.
void unblockStopSignals();
/// Before the C library is ready, by system calls alone: signals wait until one of the above.
void blockStopSignals();

/// Has the process stop as by SIGTERM when the process that started it ends.
void stopWithParent();

/// The signal that asks to stop, or 0.
int stopSignal();
/// "SIGTERM".
std::string signalName(int signal);

/// Whether SIGUSR1 has come since the last answer. The answer holds for what ranks that were told
/// alike receive within the next seconds.
bool saveSignal();
void acknowledgeSaveSignal();

/// What the process is doing, which says how long it may take to answer.
enum class StopPhase { Starting, Running, Saving };
void enterStopPhase(StopPhase phase);
/// A step has ended.
void noteStep(double seconds);

} // namespace titan::rt
