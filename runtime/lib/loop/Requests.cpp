#include "Requests.h"

#include "StopSignal.h"

namespace titan::rt {

Requests agreedRequests(Session &session, bool isFinite) {
  float all[] = {static_cast<float>(stopSignal()), saveSignal() ? 1.0F : 0.0F,
                 isFinite ? 0.0F : 1.0F};
  session.greatest(all);
  const Requests agreed{static_cast<int>(all[0]), all[1] > 0, all[2] == 0};
  if (agreed.save)
    answerSaveSignal();
  return agreed;
}

int agreedStop(Session &session) {
  return session.greatest(stopSignal());
}

} // namespace titan::rt
