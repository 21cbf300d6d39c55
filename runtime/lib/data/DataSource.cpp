#include "DataSource.h"

namespace titan::rt {

int64_t SampleOrder::operator()(int64_t sample) const {
  int64_t position = sample % count;
  if (!shuffle)
    return position;
  Permutation permutation(static_cast<uint64_t>(count), seed, static_cast<uint64_t>(epoch(sample)));
  return static_cast<int64_t>(permutation(static_cast<uint64_t>(position)));
}

} // namespace titan::rt
