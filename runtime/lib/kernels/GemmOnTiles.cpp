// The blocking is that of K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008: of the packed operands one panel of A stays in the first cache, a block of
// B in the second. All threads pack, then all multiply.
#include "GemmOnTiles.h"

#include "AmxFloat.h"
#include "Grid.h"
#include "ThreadScratch.h"

#include <algorithm>
#include <cstdlib>
#include <omp.h>
#include <string_view>

namespace titan::rt {

namespace {

// What is packed at once: 6 MiB of A and 3 of B.
constexpr int64_t kRows = 1024, kColumns = 512, kDepth = 1024;

int64_t panelsOf(int64_t lines) {
  return (lines + amx::kPanel - 1) / amx::kPanel;
}

/// The threads that work on a product. A product within another's parallel region has one.
struct Team {
  /// The first and the last but one of the calling thread's share of `count` things.
  int64_t begin(int64_t count) const { return thread * count / threads; }
  int64_t end(int64_t count) const { return (thread + 1) * count / threads; }
  void meet() const {
    if (threads > 1) {
#pragma omp barrier
    }
  }
  int64_t thread = 0, threads = 1;
};

/// One product; every thread of a team goes through all of its steps.
class TiledProduct {
public:
  TiledProduct(const amx::FloatOperand &a, const amx::FloatOperand &b, const amx::Extents &e,
               bool accumulate, float *c, int64_t ldc)
      : a(a), b(b), e(e), accumulate(accumulate), c(c), ldc(ldc) {
    const int64_t parts = (e.k + kDepth - 1) / kDepth; // equal ones
    depth = panelsOf((e.k + parts - 1) / parts) * amx::kPanel;
    const int64_t panel = amx::panelElements(depth);
    const int64_t elementsA = panelsOf(std::min(kRows, e.m)) * panel;
    const int64_t elementsB = panelsOf(std::min(kColumns, e.n)) * panel;
    ThreadScratch &scratch = ThreadScratch::ofThread(
        ThreadScratch::roundUp(static_cast<size_t>(elementsA + elementsB) * sizeof(uint16_t)));
    packedA = scratch.take<uint16_t>(elementsA + elementsB);
    packedB = packedA + elementsA;
  }

  void run(const Team &team) const {
    for (int64_t at = 0; at < e.k; at += depth)
      for (int64_t row = 0; row < e.m; row += kRows)
        for (int64_t column = 0; column < e.n; column += kColumns) {
          const amx::Extents block{std::min(kRows, e.m - row), std::min(kColumns, e.n - column),
                                   std::min(depth, e.k - at)};
          if (column == 0)
            packShare(team, {row, block.m, at, block.k}, a, packedA, amx::packLeft);
          packShare(team, {column, block.n, at, block.k}, b, packedB, amx::packRight);
          team.meet();
          multiply(team, block, accumulate || at > 0, c + row * ldc + column);
          team.meet();
        }
  }

private:
  using Pack = void(const amx::FloatOperand &, const amx::Part &, uint16_t *);

  /// Packs the calling thread's panels of what all pack.
  static void packShare(const Team &team, amx::Part part, const amx::FloatOperand &from,
                        uint16_t *to, Pack &pack) {
    const int64_t panels = panelsOf(part.lines), panel = amx::panelElements(part.depths);
    const int64_t first = team.begin(panels), end = team.end(panels);
    if (first == end)
      return;
    part.lines = std::min(end * amx::kPanel, part.lines) - first * amx::kPanel;
    part.line += first * amx::kPanel;
    pack(from, part, to + first * panel);
  }

  /// The calling thread's part of a block of C.
  void multiply(const Team &team, const amx::Extents &block, bool adds, float *to) const {
    const Grid grid(block.m, block.n, static_cast<int>(team.threads));
    if (team.thread >= grid.parts)
      return;
    const int64_t row = team.thread / grid.columns * grid.height;
    const int64_t column = team.thread % grid.columns * grid.width;
    const int64_t panel = amx::panelElements(block.k);
    amx::multiplyPanels(
        packedA + row / amx::kPanel * panel, packedB + column / amx::kPanel * panel,
        {std::min(grid.height, block.m - row), std::min(grid.width, block.n - column), block.k},
        adds, to + row * ldc + column, ldc);
  }

  const amx::FloatOperand a, b;
  const amx::Extents e;
  const bool accumulate;
  float *const c;
  const int64_t ldc;
  int64_t depth;               // of what is packed at once
  uint16_t *packedA, *packedB; // panels
};

} // namespace

bool isFasterOnTiles(int64_t m, int64_t n, int64_t k) {
  static const bool isWanted = [] {
    const char *asked = std::getenv("TITAN_F32");
    return amx::isAvailable() && !(asked && std::string_view(asked) == "blas");
  }();
  // Packing a factor costs as much as multiplying it by some 50 lines, and a smaller product leaves
  // the squares at its edges half empty (measured against MKL, see docs/rationale/kernels.md).
  constexpr int64_t fewest = 128, shallowest = 64;
  return isWanted && std::min(m, n) >= fewest && k >= shallowest;
}

void multiplyOnTiles(const amx::FloatOperand &a, const amx::FloatOperand &b,
                     const amx::Extents &extents, bool accumulate, float *c, int64_t ldc) {
  const TiledProduct product(a, b, extents, accumulate, c, ldc);
  const bool isShared = !omp_in_parallel() && extents.m * extents.n * extents.k >= int64_t{1} << 18;
  if (!isShared || omp_get_max_threads() == 1) // for such a team libgomp would ask for memory
    return product.run({});
#pragma omp parallel
  product.run({omp_get_thread_num(), omp_get_num_threads()});
}

} // namespace titan::rt
