#include "compiler/calibration/Profile.h"

#include "base/Error.h"

#include <nlohmann/json.hpp>

namespace titan::calibration {

// "Threads" of a profile; lanes of communication follow.
constexpr int operationsThread = 0, communicationThread = 2;

Profile readProfile(std::string_view text) {
  try {
    Profile profile;
    const nlohmann::json events = nlohmann::json::parse(text).at("traceEvents");
    for (const nlohmann::json &event : events) {
      if (event.at("ph") != "X")
        continue;
      const int thread = event.at("tid");
      const double seconds = event.at("dur").get<double>() * 1e-6;
      if (thread == operationsThread)
        profile.operations[event.at("name")].push_back(seconds);
      else if (thread >= communicationThread)
        profile.collectives[event.at("name")].push_back(seconds);
    }
    return profile;
  } catch (const nlohmann::json::exception &error) {
    throw UserError(std::string("no profile: ") + error.what());
  }
}

} // namespace titan::calibration
