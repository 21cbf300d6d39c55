// The messages of a rank's pipelines, between the arenas of the ranks. They have separate groups,
// lanes and channels, so that they wait for no collective of the program.
#pragma once

#include "Arena.h"

#include "collectives/Collectives.h"
#include "pipeline/StepRunner.h"

namespace titan::rt {

class RankMessages final : public StageMessages {
public:
  /// Connects the ranks along the pipelines' axis. Collective.
  RankMessages(const Program &program, const Pipelines &pipelines, const Arena &arena,
               Collectives &collectives, Device &device);

  void start(const Message &message, int number) override;
  void finish(int number) override;

  /// Where messages record their times from now on; null: nowhere.
  void setTrace(Trace *trace) { context.trace = trace; }
  void setFlight(FlightRecorder *flight) { context.flight = flight; }
  /// Where messages are counted from now on; null: nowhere.
  void setTraffic(Traffic *traffic) { lanes.setTraffic(traffic); }
  double waitedSeconds() const { return lanes.waitedSeconds(); }
  int64_t packingBytes() const { return lanes.packingBytes(); }
  /// The call that starts the next messages, for profiles and failures.
  void setCall(const char *name) { context.location = name; }

private:
  const Program &program;
  const Arena &arena;
  const int axis;
  Collectives lanes;
  Context context;
};

} // namespace titan::rt
