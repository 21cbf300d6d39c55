// How threads share a product.
#pragma once

#include <cstdint>

namespace titan::rt {

/// How many parts of rows and of columns threads make of C, each of panels of so many lines. Every
/// part brings its rows of A and its columns of B from memory or from another core, which costs
/// about as much as their products with some lines more.
struct Grid {
  Grid(int64_t m, int64_t n, int threads, int64_t panelRows = 32, int64_t panelColumns = 32) {
    auto share = [](int64_t lines, int64_t parts, int64_t panel) {
      return (lines + parts * panel - 1) / (parts * panel) * panel;
    };
    constexpr int64_t lines = 128;
    int64_t least = INT64_MAX;
    for (int64_t across = 1; across <= threads; ++across) {
      const int64_t down = threads / across;
      const int64_t high = share(m, down, panelRows), wide = share(n, across, panelColumns);
      if (high * wide + lines * (high + wide) >= least)
        continue;
      least = high * wide + lines * (high + wide);
      height = high;
      width = wide;
    }
    columns = (n + width - 1) / width;
    parts = (m + height - 1) / height * columns;
  }
  int64_t height, width; // of a part
  int64_t columns, parts;
};

} // namespace titan::rt
