// Partition of a GEMM: cache blocks for packing, and tiles of C for threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace titan::rt {

/// Division that rounds up.
inline int64_t quotient(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// An extent in equal blocks of at most `maxSize`, each a multiple of `multiple`.
struct Blocking {
  Blocking(int64_t extent, int64_t maxSize, int64_t multiple)
      : extent(extent), blocks(std::max<int64_t>(1, quotient(extent, maxSize))),
        size(quotient(quotient(extent, blocks), multiple) * multiple) {
    blocks = size > 0 ? quotient(extent, size) : 1; // rounding may leave the last block empty
  }
  int64_t begin(int64_t block) const { return std::min(extent, block * size); }
  int64_t getBlockSize(int64_t block) const { return begin(block + 1) - begin(block); }
  int64_t extent, blocks, size;
};

/// The number of tiles of C for `threads` threads: several per thread, so that no thread waits long
/// for a slower one, but large enough that per-tile overhead does not matter.
inline int64_t tileCount(int64_t elements, int64_t threads) {
  constexpr int64_t enough = 128 * 256;
  return threads == 1 ? 1 : std::clamp(elements / enough, threads, 4 * threads);
}

/// At most `maxTiles` tiles of C, by rows and columns, in whole panels. Each tile loads its rows of
/// A and columns of B from memory or another core. Such a load costs about as much as 128 more rows
/// or columns of products.
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

  /// About eight tiles per thread. Tiles of the same columns (at most `widest`) are consecutive:
  /// the thread packs the columns once, and the next tile finds their panels in L2.
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

  int64_t height = 1, width = 1; // of a tile
  int64_t columns = 0, tiles = 0;

private:
  Grid() = default;
  /// The size of one of `tiles` tiles, in whole panels.
  static int64_t tileExtent(int64_t extent, int64_t tiles, int64_t panel) {
    return quotient(extent, tiles * panel) * panel;
  }
};

} // namespace titan::rt
