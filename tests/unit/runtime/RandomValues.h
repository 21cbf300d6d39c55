// Random values that are equal in every run, for tests of kernels.
#pragma once

#include "base/random/RandomStream.h"

#include <vector>

namespace titan::rt {

/// Normally distributed; `name` distinguishes tensors.
template <typename T> std::vector<T> randomValues(const char *name, int64_t count) {
  RandomStream stream(1, "test", name);
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(stream.normal(i));
  return values;
}

} // namespace titan::rt
