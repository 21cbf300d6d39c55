#include "Request.h"

#include "launch/EnvironmentVariable.h"

namespace titan::rt {

Bfloat16Request requestForBfloat16() {
  static constexpr std::string_view words[] = {"vectors", "widen",
                                               "native"}; // in the order of the enumerators
  static const int asked = readWord("TITAN_BF16", words);
  return static_cast<Bfloat16Request>(asked + 1);
}

bool isBlasForced() {
  static constexpr std::string_view words[] = {"blas"};
  static const bool asked = readWord("TITAN_F32", words) == 0;
  return asked;
}

void checkRequests() {
  (void)requestForBfloat16();
  (void)isBlasForced();
}

} // namespace titan::rt
