// The numbers of an integer input that a program can use as indices.
#pragma once

#include <cstdint>

namespace titan {

/// By default, all numbers.
struct IndexRange {
  int64_t least = INT64_MIN, greatest = INT64_MAX;

  bool contains(int64_t index) const { return index >= least && index <= greatest; }
  bool isAll() const { return least == INT64_MIN && greatest == INT64_MAX; }
};

} // namespace titan
