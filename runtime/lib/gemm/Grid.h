// How a product is cut: into what is packed at once, and into what threads share.
#pragma once

#include <algorithm>
#include <cstdint>

namespace titan::rt {

/// Rounded up.
inline int64_t quotient(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// An extent in equal parts of at most so much, multiples of a step.
struct Blocking {
  Blocking(int64_t extent, int64_t maxSize, int64_t multiple)
      : extent(extent), blocks(std::max<int64_t>(1, quotient(extent, maxSize))),
        size(quotient(quotient(extent, blocks), multiple) * multiple) {
    blocks = size > 0 ? quotient(extent, size) : 1; // rounding up may leave nothing for the last
  }
  int64_t begin(int64_t block) const { return std::min(extent, block * size); }
  int64_t sizeOf(int64_t block) const { return begin(block + 1) - begin(block); }
  int64_t extent, blocks, size;
};

/// How many parts of so many elements of C are dealt out to threads: some for each, so that none
/// waits long for one whose core is slower, or shares its units with another's threads, but none
/// so small that what surrounds the products counts.
inline int64_t tileCount(int64_t elements, int64_t threads) {
  constexpr int64_t enough = 128 * 256;
  return threads == 1 ? 1 : std::clamp(elements / enough, threads, 4 * threads);
}

/// At most so many parts of C, by rows and by columns, each of panels of so many lines. Every part
/// brings its rows of A and its columns of B from memory or from another core, which costs about as
/// much as their products with some lines more.
struct Grid {
  Grid(int64_t m, int64_t n, int64_t maxTiles, int64_t panelRows = 32, int64_t panelColumns = 32) {
    constexpr int64_t loadCost = 128;
    int64_t minCost = INT64_MAX;
    for (int64_t across = 1; across <= maxTiles; ++across) {
      const int64_t down = maxTiles / across;
      const int64_t high = tileExtent(m, down, panelRows),
                    wide = tileExtent(n, across, panelColumns);
      if (high * wide + loadCost * (high + wide) >= minCost)
        continue;
      minCost = high * wide + loadCost * (high + wide);
      height = high;
      width = wide;
    }
    columns = quotient(n, width);
    tiles = quotient(m, height) * columns;
  }

  /// Some eight parts for each of so many threads, those of the same columns behind one another, of
  /// which there are at most `widest`: who multiplies one packs its columns, whose panels then lie
  /// in its core's second cache, where the next part finds them.
  static Grid byColumns(int64_t m, int64_t n, int64_t threads, int64_t panelRows, int64_t widest) {
    constexpr int64_t narrowest = 128;
    const int64_t wanted = threads == 1 ? 1 : 2 * threads;
    Grid grid;
    grid.width = std::clamp(tileExtent(n, wanted, 32), narrowest, widest);
    grid.columns = quotient(n, grid.width);
    grid.height = tileExtent(m, threads == 1 ? 1 : 4 * quotient(wanted, grid.columns), panelRows);
    grid.tiles = quotient(m, grid.height) * grid.columns;
    return grid;
  }

  int64_t height = 1, width = 1; // of a part
  int64_t columns = 0, tiles = 0;

private:
  Grid() = default;
  /// One of so many parts, in whole panels.
  static int64_t tileExtent(int64_t extent, int64_t tiles, int64_t panel) {
    return quotient(extent, tiles * panel) * panel;
  }
};

} // namespace titan::rt
