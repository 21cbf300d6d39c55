// How threads share a product.
#pragma once

#include <algorithm>
#include <cstdint>

namespace titan::rt {

/// How many parts of so many elements of C are dealt out to threads: some for each, so that none
/// waits long for one whose core is slower, or shares its units with another's threads, but none
/// so small that what surrounds the products counts.
inline int64_t partsToDeal(int64_t elements, int64_t threads) {
  constexpr int64_t enough = 128 * 256;
  return threads == 1 ? 1 : std::clamp(elements / enough, threads, 4 * threads);
}

/// At most so many parts of C, by rows and by columns, each of panels of so many lines. Every part
/// brings its rows of A and its columns of B from memory or from another core, which costs about as
/// much as their products with some lines more.
struct Grid {
  Grid(int64_t m, int64_t n, int64_t most, int64_t panelRows = 32, int64_t panelColumns = 32) {
    auto share = [](int64_t lines, int64_t parts, int64_t panel) {
      return (lines + parts * panel - 1) / (parts * panel) * panel;
    };
    constexpr int64_t lines = 128;
    int64_t least = INT64_MAX;
    for (int64_t across = 1; across <= most; ++across) {
      const int64_t down = most / across;
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
  int64_t height = 1, width = 1; // of a part
  int64_t columns, parts;
};

} // namespace titan::rt
