// SIGTERM, SIGINT and SIGHUP (a terminal that closes) ask a run to stop: it ends the current step,
// saves, and exits with 75. A second signal ends it at once, in case it is stuck. That nobody reads
// its output any more is no reason to end.
#pragma once

namespace titan::rt {

void catchStopSignals();
/// The signal that came, or 0.
int stopSignal();

} // namespace titan::rt
