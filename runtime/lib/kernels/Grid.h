// How threads share a product on tiles.
#pragma once

#include "Amx.h"

#include <cstdint>

namespace titan::rt {

/// How many parts of rows and of columns threads make of C. Every part packs its rows of A and its
/// columns of B, which costs about as much as four blocks' products for each.
struct Grid {
  Grid(int64_t m, int64_t n, int threads) {
    auto blocks = [](int64_t lines, int64_t parts) {
      return (lines + parts * amx::kPanel - 1) / (parts * amx::kPanel);
    };
    int64_t least = INT64_MAX;
    for (int64_t across = 1; across <= threads; ++across) {
      const int64_t down = threads / across;
      const int64_t high = blocks(m, down), wide = blocks(n, across);
      if (high * wide + 4 * (high + wide) >= least)
        continue;
      least = high * wide + 4 * (high + wide);
      height = high * amx::kPanel;
      width = wide * amx::kPanel;
    }
    columns = (n + width - 1) / width;
    parts = (m + height - 1) / height * columns;
  }
  int64_t height = amx::kPanel, width = amx::kPanel; // of a part
  int64_t columns, parts;
};

} // namespace titan::rt
