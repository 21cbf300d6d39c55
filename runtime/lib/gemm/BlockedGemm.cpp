// The blocking is that of K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008: of the packed operands one panel of A stays in the first cache, a block of
// B in the second. All threads pack, then all multiply; on vectors each packs what it needs of B
// itself, since what another core packed lies in that core's cache.
#include "BlockedGemm.h"

#include "Amx.h"
#include "GemmWays.h"
#include "Grid.h"
#include "Request.h"
#include "threads/Team.h"
#include "threads/ThreadScratch.h"

#include <algorithm>
#include <omp.h>

namespace titan::rt {

namespace {

/// One product; every thread of a team goes through all of its steps.
template <typename Way, typename To> class BlockedProduct {
  using Operand = OperandOf<typename Way::Element>;
  using Packed = typename Way::Packed;

public:
  BlockedProduct(const typename Way::Unit &unit, const Operand &a, const Operand &b,
                 const Extents &e, const Destination<To> &c)
      : way(unit, a, e), a(a), b(b), c(c), depth(e.k, way.depth, Way::step),
        rows(e.m, Way::rows, way.panelRows),
        columns(e.n, Way::sharesRight || hasSums() ? Way::columns : std::max<int64_t>(1, e.n),
                Way::panelColumns) {
    const int64_t panelsA = way.packsLeft ? rows.size / way.panelRows : 0;
    const int64_t elementsA = panelsA * way.leftElements(depth.size);
    const int64_t elementsB = sharedElements();
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
    Packed *const room = takeRoom(); // by every thread, also one that comes too late this time
    for (int64_t outer = 0; outer < (hasSums() ? 1 : depth.parts); ++outer)
      for (int64_t row = 0; row < rows.parts; ++row)
        for (int64_t column = 0; column < columns.parts; ++column)
          if (hasSums())
            for (int64_t at = 0; at < depth.parts; ++at)
              addBlock(team, room, row, column, at, true);
          else
            addBlock(team, room, row, column, outer, column == 0);
  }

private:
  /// Whether what is rounded must wait for more.
  bool hasSums() const { return !std::is_same_v<To, float> && depth.parts > 1; }

  int64_t sharedElements() const {
    if constexpr (Way::sharesRight)
      return columns.size / Way::panelColumns * Way::rightElements(depth.size);
    return 0;
  }

  /// Where the calling thread packs what it does not share.
  Packed *takeRoom() const {
    if constexpr (Way::sharesRight)
      return nullptr;
    else {
      const int64_t elements = way.roomElements(depth.size);
      const auto bytes = static_cast<size_t>(elements) * sizeof(Packed);
      return ThreadScratch::ofThread<Way>(bytes).template take<Packed>(elements);
    }
  }

  void addBlock(Team &team, Packed *room, int64_t row, int64_t column, int64_t at,
                bool packsLeft) const {
    const int64_t begin = depth.begin(at), depths = depth.sizeOf(at);
    const Slice left{rows.begin(row), rows.sizeOf(row), begin, depths};
    const Slice right{columns.begin(column), columns.sizeOf(column), begin, depths};
    pack(team, left, packsLeft, right);
    Destination<To> to = c.at(left.line, right.line);
    if (!hasSums()) {
      to.adds |= at > 0;
      multiply(team, room, left, right, to);
    } else if (at + 1 < depth.parts) {
      multiply(team, room, left, right, Destination<float>{sums, columns.size, at > 0});
    } else {
      to.sums = sums;
      to.ldSums = columns.size;
      multiply(team, room, left, right, to);
    }
  }

  /// Some panels of an operand, of so many lines, which are packed at a time: several, since a line
  /// of memory across them may belong to three.
  struct Share {
    Share(const Slice &all, int64_t lines, int64_t threads)
        : all(all), lines(lines), panels(quotient(all.lines, lines)),
          atOnce(std::clamp<int64_t>(panels / (4 * threads), 1, 16)) {}
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
    const Share shareB(right, Way::panelColumns, team.size());
    const int64_t partsA = packsLeft && way.packsLeft ? shareA.parts() : 0;
    if (!Way::sharesRight && partsA == 0)
      return;
    team.deal(partsA + (Way::sharesRight ? shareB.parts() : 0), [&](int64_t part) {
      if (part < partsA)
        return way.packLeft(a, shareA[part],
                            packedA + shareA.firstPanel(part) * way.leftElements(left.depths));
      if constexpr (Way::sharesRight)
        way.packRight(b, shareB[part - partsA],
                      packedB + shareB.firstPanel(part - partsA) * way.rightElements(left.depths));
    });
  }

  template <typename Sum>
  void multiply(Team &team, Packed *room, const Slice &left, const Slice &right,
                const Destination<Sum> &to) const {
    const Grid grid = way.deal(left.lines, right.lines, team.size());
    const int64_t down = grid.parts / grid.columns;
    int64_t inRoom = -1; // the columns that this thread packed last
    team.deal(grid.parts, [&](int64_t part) {
      const int64_t row = part % down * grid.height;
      const int64_t column = part / down * grid.width;
      Slice rowsOf = left, columnsOf = right;
      rowsOf.line += row;
      rowsOf.lines = std::min(grid.height, left.lines - row);
      columnsOf.line += column;
      columnsOf.lines = std::min(grid.width, right.lines - column);
      const Packed *panels = nullptr;
      if (way.packsLeft)
        panels = packedA + row / way.panelRows * way.leftElements(left.depths);
      Packed *columns = room;
      if constexpr (Way::sharesRight)
        columns = packedB + column / Way::panelColumns * Way::rightElements(left.depths);
      way.multiply(a, rowsOf, panels, b, columnsOf, columns, inRoom == column, to.at(row, column));
      inRoom = column;
    });
  }

  const Way way;
  const Operand a, b;
  const Destination<To> c;
  const Cut depth, rows, columns; // what is packed at once
  Packed *packedA, *packedB;      // panels
  float *sums;                    // of a block
};

/// Every thread makes some columns of its own: where rows are few, packing them is cheaper than
/// meeting.
template <typename Way, typename To>
void multiplyApart(const typename Way::Unit &unit, const OperandOf<typename Way::Element> &a,
                   const OperandOf<typename Way::Element> &b, const Extents &e,
                   const Destination<To> &c, int threads) {
  const Cut columns(e.n, quotient(e.n, threads), Way::panelColumns);
#pragma omp parallel for schedule(static)
  for (int64_t part = 0; part < columns.parts; ++part) {
    const int64_t column = columns.begin(part), count = columns.sizeOf(part);
    if (count > 0)
      BlockedProduct<Way, To>(unit, a, b.from(column), {e.m, count, e.k}, c.at(0, column)).run({});
  }
}

template <typename Way, typename To>
void multiply(const typename Way::Unit &unit, const OperandOf<typename Way::Element> &a,
              const OperandOf<typename Way::Element> &b, const Extents &e,
              const Destination<To> &c) {
  if (e.n == 1 && e.m > 1 && c.ld == 1) // A column lies as a row does.
    return multiply<Way>(unit, b, a, Extents{1, e.m, e.k}, Destination<To>{c.to, e.m, c.adds});
  const bool isShared = !omp_in_parallel() && e.m * e.n * e.k >= int64_t{1} << 18;
  const int threads = isShared ? omp_get_max_threads() : 1;
  if (threads == 1) // for such a team libgomp would ask for memory
    return BlockedProduct<Way, To>(unit, a, b, e, c).run({});
  if constexpr (!Way::sharesRight)
    if (!Way::hasManyRows(e))
      return multiplyApart<Way>(unit, a, b, e, c, threads);
  const BlockedProduct<Way, To> product(unit, a, b, e, c);
  Pieces pieces;
#pragma omp parallel
  product.run(Team(pieces, omp_get_num_threads(), omp_get_thread_num()));
}

} // namespace

FloatWay wayOfFloats(const Extents &e) {
  if (isLeftToBlas())
    return FloatWay::Blas;
  // Packing a factor costs as much as multiplying it by some 50 lines, and a smaller product leaves
  // the squares at its edges half empty (measured against MKL, see docs/rationale/kernels.md).
  constexpr int64_t fewest = 128, shallowest = 64;
  if (amx::isAvailable() && std::min(e.m, e.n) >= fewest && e.k >= shallowest)
    return FloatWay::Tiles;
  return floatVectors() ? FloatWay::Vectors : FloatWay::Blas;
}

void multiplyOnTiles(const FloatOperand &a, const FloatOperand &b, const Extents &extents,
                     const Destination<float> &c) {
  multiply<FloatsOnTiles>({}, a, b, extents, c);
}

void multiplyOnVectors(const FloatVectors &unit, const FloatOperand &a, const FloatOperand &b,
                       const Extents &extents, const Destination<float> &c) {
  multiply<OnVectors<float, float, FloatVectors>>(unit, a, b, extents, c);
}

template <typename P, typename To>
void multiplyOnVectors(const Bfloat16Vectors<P> &unit, const Bfloat16Operand &a,
                       const Bfloat16Operand &b, const Extents &extents, const Destination<To> &c) {
  multiply<OnVectors<uint16_t, P, Bfloat16Vectors<P>>>(unit, a, b, extents, c);
}

template void multiplyOnVectors(const Bfloat16Vectors<float> &, const Bfloat16Operand &,
                                const Bfloat16Operand &, const Extents &,
                                const Destination<float> &);
template void multiplyOnVectors(const Bfloat16Vectors<float> &, const Bfloat16Operand &,
                                const Bfloat16Operand &, const Extents &,
                                const Destination<bf16> &);
template void multiplyOnVectors(const Bfloat16Vectors<uint32_t> &, const Bfloat16Operand &,
                                const Bfloat16Operand &, const Extents &,
                                const Destination<float> &);
template void multiplyOnVectors(const Bfloat16Vectors<uint32_t> &, const Bfloat16Operand &,
                                const Bfloat16Operand &, const Extents &,
                                const Destination<bf16> &);

} // namespace titan::rt
