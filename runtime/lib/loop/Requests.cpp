#include "Requests.h"

#include "StopSignal.h"

namespace titan::rt {

Requests agreeOnRequests(Executor &executor, bool isFinite, bool isReady) {
  float all[] = {static_cast<float>(stopSignal()), saveSignal() ? 1.0F : 0.0F,
                 isFinite ? 0.0F : 1.0F, isReady ? 0.0F : 1.0F};
  executor.maxOverRanks(all);
  const Requests agreed{static_cast<int>(all[0]), all[1] > 0, all[2] == 0, all[3] == 0};
  if (agreed.save)
    acknowledgeSaveSignal();
  return agreed;
}

int agreeOnStop(Executor &executor) {
  return executor.maxOverRanks(stopSignal());
}

} // namespace titan::rt
