#include "AttentionRequest.h"

#include "launch/EnvironmentVariable.h"

namespace titan::rt {

bool isFlashAttentionWanted() {
  static constexpr std::string_view words[] = {"flash", "own"};
  static const bool wanted = readWord("TITAN_ATTENTION", words) != 1;
  return wanted;
}

} // namespace titan::rt
