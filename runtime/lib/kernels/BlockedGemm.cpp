// The blocking is that of K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008: of the packed operands one panel of A stays in the first cache, a block of
// B in the second. All threads pack, then all multiply.
#include "BlockedGemm.h"

#include "Amx.h"
#include "AmxFloat.h"
#include "Avx512.h"
#include "Grid.h"
#include "ThreadScratch.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <omp.h>
#include <string_view>

namespace titan::rt {

namespace {

int64_t quotient(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// An extent in equal parts of at most so much, multiples of a step.
struct Cut {
  Cut(int64_t extent, int64_t most, int64_t step)
      : extent(extent), parts(std::max<int64_t>(1, quotient(extent, most))),
        size(quotient(quotient(extent, parts), step) * step) {}
  int64_t begin(int64_t part) const { return std::min(extent, part * size); }
  int64_t sizeOf(int64_t part) const { return begin(part + 1) - begin(part); }
  int64_t extent, parts, size;
};

/// How floats are multiplied on tiles.
struct FloatsOnTiles {
  using Element = float;
  using Packed = uint16_t;
  static constexpr int64_t rows = 1024, columns = 512, depth = 1024; // most that is packed at once
  static constexpr int64_t step = amx::kPanel, panelRows = amx::kPanel, panelColumns = amx::kPanel;
  static constexpr bool packsRight = true;

  explicit FloatsOnTiles(const Extents &) {}
  static int64_t leftElements(int64_t depths) { return amx::panelElements(depths); }
  static int64_t rightElements(int64_t depths) { return amx::panelElements(depths); }
  void packLeft(const FloatOperand &from, const Slice &part, Packed *to) const {
    amx::packLeft(from, part, to);
  }
  void packRight(const FloatOperand &from, const Slice &part, Packed *to) const {
    amx::packRight(from, part, to);
  }
  void multiply(const Packed *a, int64_t m, const Packed *b, const FloatOperand &,
                const Slice &part, const Destination<float> &c) const {
    amx::multiplyPanels(a, b, {m, part.lines, part.depths}, c.adds, c.to, c.ld);
  }
};

/// How elements are multiplied on vectors, so many of depth a step.
template <typename E, typename P> struct OnVectors {
  using Element = E;
  using Packed = P;
  static constexpr int64_t step = sizeof(P) / sizeof(E), panelColumns = avx512::kColumns;
  static constexpr int64_t rows = 1024, columns = 768, depth = 512 * step; // at once

  /// Panels of equal numbers of rows: one or two would be multiplied as slowly as four.
  explicit OnVectors(const Extents &e)
      : panelRows(quotient(e.m, quotient(e.m, avx512::kMostRows))),
        packsRight(e.m > avx512::kFewRows) {}
  static int64_t leftElements(int64_t depths) {
    return quotient(depths, step) * avx512::kRowPlaces;
  }
  static int64_t rightElements(int64_t depths) { return quotient(depths, step) * avx512::kColumns; }
  void packLeft(const OperandOf<E> &from, const Slice &part, Packed *to) const {
    avx512::packLeft(from, part, panelRows, to);
  }
  void packRight(const OperandOf<E> &from, const Slice &part, Packed *to) const {
    avx512::packRight(from, part, to);
  }
  /// From panels of A and of a part of B's columns, or, where it is not packed, from B itself.
  template <typename To>
  void multiply(const Packed *a, int64_t m, const Packed *b, const OperandOf<E> &from,
                const Slice &part, const Destination<To> &c) const {
    if (packsRight)
      avx512::multiplyPanels(a, panelRows, b, {m, part.lines, part.depths}, c);
    else
      avx512::multiplyFew(a, m, from, part, c);
  }

  const int64_t panelRows;
  const bool packsRight;
};

/// The calling thread among those that work on a product, which take the next piece of work as soon
/// as they are free. A product within another's parallel region has one thread.
class Team {
public:
  Team() = default;
  Team(std::atomic<int64_t> &next, int64_t threads) : threads(threads), next(&next) {}
  int64_t size() const { return threads; }
  /// Calls work(i) for each i below `count` on one of the threads, all of which deal out the same,
  /// and returns when all is done.
  template <typename Work> void deal(int64_t count, Work &&work) {
    if (threads == 1) {
      for (int64_t i = 0; i < count; ++i)
        work(i);
      return;
    }
    for (int64_t i; (i = next->fetch_add(1, std::memory_order_relaxed) - dealt) < count;)
      work(i);
    dealt += count + threads; // each thread has asked once in vain
#pragma omp barrier
  }

private:
  int64_t threads = 1;
  std::atomic<int64_t> *next = nullptr;
  int64_t dealt = 0; // how often `next` was asked when the work at hand began
};

/// One product; every thread of a team goes through all of its steps.
template <typename Way, typename To> class BlockedProduct {
  using Operand = OperandOf<typename Way::Element>;
  using Packed = typename Way::Packed;

public:
  BlockedProduct(const Operand &a, const Operand &b, const Extents &e, const Destination<To> &c)
      : way(e), a(a), b(b), c(c), rows(e.m, Way::rows, way.panelRows),
        columns(e.n, way.packsRight ? Way::columns : e.n, Way::panelColumns),
        depth(e.k, Way::depth, Way::step) {
    const int64_t elementsA = rows.size / way.panelRows * way.leftElements(depth.size);
    const int64_t panelsB = way.packsRight ? columns.size / way.panelColumns : 0;
    const int64_t elementsB = panelsB * way.rightElements(depth.size);
    const int64_t elementsSums = hasSums() ? rows.size * columns.size : 0;
    const auto bytes = static_cast<size_t>(elementsA + elementsB) * sizeof(Packed);
    ThreadScratch &scratch = ThreadScratch::ofThread(
        ThreadScratch::roundUp(bytes) + static_cast<size_t>(elementsSums) * sizeof(float));
    packedA = scratch.take<Packed>(elementsA + elementsB);
    packedB = packedA + elementsA;
    sums = scratch.take<float>(elementsSums);
  }

  /// Parts of the depth follow each other where their sums stay: in C, or in a block's own place.
  void run(Team team) const {
    for (int64_t outer = 0; outer < (hasSums() ? 1 : depth.parts); ++outer)
      for (int64_t row = 0; row < rows.parts; ++row)
        for (int64_t column = 0; column < columns.parts; ++column)
          if (hasSums())
            for (int64_t at = 0; at < depth.parts; ++at)
              addBlock(team, row, column, at, true);
          else
            addBlock(team, row, column, outer, column == 0);
  }

private:
  /// Whether what is rounded must wait for more.
  bool hasSums() const { return !std::is_same_v<To, float> && depth.parts > 1; }

  void addBlock(Team &team, int64_t row, int64_t column, int64_t at, bool packsLeft) const {
    const int64_t begin = depth.begin(at), depths = depth.sizeOf(at);
    const Slice left{rows.begin(row), rows.sizeOf(row), begin, depths};
    const Slice right{columns.begin(column), columns.sizeOf(column), begin, depths};
    pack(team, left, packsLeft, right);
    Destination<To> to = c.at(left.line, right.line);
    if (!hasSums()) {
      to.adds |= at > 0;
      multiply(team, left, right, to);
    } else if (at + 1 < depth.parts) {
      multiply(team, left, right, Destination<float>{sums, columns.size, at > 0});
    } else {
      to.sums = sums;
      to.ldSums = columns.size;
      multiply(team, left, right, to);
    }
  }

  /// Some panels of an operand, of so many lines, which are packed at a time.
  struct Share {
    Share(const Slice &all, int64_t lines, int64_t threads)
        : all(all), lines(lines), panels(quotient(all.lines, lines)),
          atOnce(std::clamp<int64_t>(panels / (4 * threads), 1, 4)) {}
    int64_t parts() const { return quotient(panels, atOnce); }
    int64_t firstPanel(int64_t part) const { return part * atOnce; }
    Slice operator[](int64_t part) const {
      const int64_t first = part * atOnce * lines;
      return {all.line + first, std::min(atOnce * lines, all.lines - first), all.depth, all.depths};
    }
    const Slice &all;
    int64_t lines, panels, atOnce;
  };

  void pack(Team &team, const Slice &left, bool packsLeft, const Slice &right) const {
    const Share shareA(left, way.panelRows, team.size());
    const Share shareB(right, way.panelColumns, team.size());
    const int64_t partsA = packsLeft ? shareA.parts() : 0;
    team.deal(partsA + (way.packsRight ? shareB.parts() : 0), [&](int64_t part) {
      if (part < partsA)
        way.packLeft(a, shareA[part],
                     packedA + shareA.firstPanel(part) * way.leftElements(left.depths));
      else
        way.packRight(b, shareB[part - partsA],
                      packedB + shareB.firstPanel(part - partsA) * way.rightElements(left.depths));
    });
  }

  template <typename Sum>
  void multiply(Team &team, const Slice &left, const Slice &right,
                const Destination<Sum> &to) const {
    const Grid grid(left.lines, right.lines, partsToDeal(left.lines * right.lines, team.size()),
                    way.panelRows, Way::panelColumns);
    team.deal(grid.parts, [&](int64_t part) {
      const int64_t row = part / grid.columns * grid.height;
      const int64_t column = part % grid.columns * grid.width;
      Slice some = right;
      some.line += column;
      some.lines = std::min(grid.width, right.lines - column);
      way.multiply(packedA + row / way.panelRows * way.leftElements(left.depths),
                   std::min(grid.height, left.lines - row),
                   packedB + column / way.panelColumns * way.rightElements(left.depths), b, some,
                   to.at(row, column));
    });
  }

  const Way way;
  const Operand a, b;
  const Destination<To> c;
  const Cut rows, columns, depth; // what is packed at once
  Packed *packedA, *packedB;      // panels
  float *sums;                    // of a block
};

/// Every thread makes some columns of its own: where rows are few, packing them is cheaper than
/// meeting.
template <typename Way, typename To>
void multiplyApart(const OperandOf<typename Way::Element> &a,
                   const OperandOf<typename Way::Element> &b, const Extents &e,
                   const Destination<To> &c, int threads) {
  const Cut columns(e.n, quotient(e.n, threads), Way::panelColumns);
#pragma omp parallel for schedule(static)
  for (int64_t part = 0; part < columns.parts; ++part) {
    const int64_t column = columns.begin(part), count = columns.sizeOf(part);
    if (count > 0)
      BlockedProduct<Way, To>(a, b.from(column), {e.m, count, e.k}, c.at(0, column)).run({});
  }
}

template <typename Way, typename To>
void multiply(const OperandOf<typename Way::Element> &a, const OperandOf<typename Way::Element> &b,
              const Extents &e, const Destination<To> &c) {
  if (e.n == 1 && e.m > 1 && c.ld == 1) // A column lies as a row does.
    return multiply<Way>(b, a, Extents{1, e.m, e.k}, Destination<To>{c.to, e.m, c.adds});
  const bool isShared = !omp_in_parallel() && e.m * e.n * e.k >= int64_t{1} << 18;
  const int threads = isShared ? omp_get_max_threads() : 1;
  if (threads == 1) // for such a team libgomp would ask for memory
    return BlockedProduct<Way, To>(a, b, e, c).run({});
  if (!Way(e).packsRight)
    return multiplyApart<Way>(a, b, e, c, threads);
  const BlockedProduct<Way, To> product(a, b, e, c);
  std::atomic<int64_t> next = 0;
#pragma omp parallel
  product.run(Team(next, omp_get_num_threads()));
}

} // namespace

FloatWay wayOfFloats(const Extents &e) {
  static const bool isLeftToBlas = [] {
    const char *asked = std::getenv("TITAN_F32");
    return asked && std::string_view(asked) == "blas";
  }();
  if (isLeftToBlas)
    return FloatWay::Blas;
  // Packing a factor costs as much as multiplying it by some 50 lines, and a smaller product leaves
  // the squares at its edges half empty (measured against MKL, see docs/rationale/kernels.md).
  constexpr int64_t fewest = 128, shallowest = 64;
  if (amx::isAvailable() && std::min(e.m, e.n) >= fewest && e.k >= shallowest)
    return FloatWay::Tiles;
  return avx512::hasFloats() ? FloatWay::Vectors : FloatWay::Blas;
}

void multiplyOnTiles(const FloatOperand &a, const FloatOperand &b, const Extents &extents,
                     const Destination<float> &c) {
  multiply<FloatsOnTiles>(a, b, extents, c);
}

void multiplyOnVectors(const FloatOperand &a, const FloatOperand &b, const Extents &extents,
                       const Destination<float> &c) {
  multiply<OnVectors<float, float>>(a, b, extents, c);
}

void multiplyOnVectors(const Bfloat16Operand &a, const Bfloat16Operand &b, const Extents &extents,
                       const Destination<float> &c) {
  multiply<OnVectors<uint16_t, uint32_t>>(a, b, extents, c);
}

void multiplyOnVectors(const Bfloat16Operand &a, const Bfloat16Operand &b, const Extents &extents,
                       const Destination<bf16> &c) {
  multiply<OnVectors<uint16_t, uint32_t>>(a, b, extents, c);
}

} // namespace titan::rt
