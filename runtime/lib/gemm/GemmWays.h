// What packs and multiplies parts of a product by blocks (BlockedGemm.cpp), which knows no more of
// the processor.
#pragma once

#include "AmxFloat.h"
#include "Grid.h"
#include "Operands.h"
#include "VectorUnit.h"

namespace titan::rt {

/// How floats are multiplied on tiles.
struct FloatsOnTiles {
  using Element = float;
  using Packed = uint16_t;
  static constexpr int64_t rows = 1024, columns = 512, depth = 1024; // most that is packed at once
  static constexpr int64_t step = amx::kPanel, panelRows = amx::kPanel, panelColumns = amx::kPanel;
  static constexpr bool sharesRight = true; // B is packed by all threads for all of them
  static constexpr bool packsLeft = true;

  struct Unit {};
  FloatsOnTiles(const Unit &, const FloatOperand &, const Extents &) {}
  static int64_t leftElements(int64_t depths) { return amx::panelElements(depths); }
  static int64_t rightElements(int64_t depths) { return amx::panelElements(depths); }
  void packLeft(const FloatOperand &from, const Slice &part, Packed *to) const {
    amx::packLeft(from, part, to);
  }
  void packRight(const FloatOperand &from, const Slice &part, Packed *to) const {
    amx::packRight(from, part, to);
  }
  static Grid deal(int64_t m, int64_t n, int64_t threads) {
    return Grid(m, n, partsToDeal(m * n, threads), panelRows, panelColumns);
  }
  void multiply(const FloatOperand &, const Slice &left, const Packed *a, const FloatOperand &,
                const Slice &right, Packed *b, bool /*isPacked*/,
                const Destination<float> &c) const {
    amx::multiplyPanels(a, b, {left.lines, right.lines, right.depths}, c.adds, c.to, c.ld);
  }
};

/// How elements are multiplied on vectors.
template <typename E, typename P, typename U> struct OnVectors {
  using Element = E;
  using Packed = P;
  using Unit = U;
  static constexpr int64_t step = kDepthOfStep<P>, panelColumns = 32;
  static constexpr int64_t rows = 1024, columns = 768;
  static constexpr bool sharesRight = false;

  static bool hasManyRows(const Extents &e) { return e.m > kFewRows; }
  /// Of what lies along the depth, only where many columns use it, or where its rows collide.
  static bool packingLeftPays(const Unit &unit, const OperandOf<E> &a, const Extents &e) {
    return !liesInSteps(a, e) || !hasManyRows(e) || e.n > 4096 || rowsCollide(unit, a);
  }
  /// A row can be read as it lies: a step of it is there as a whole, in all rows.
  static bool liesInSteps(const OperandOf<E> &a, const Extents &e) {
    return kPacksAsItLies<E, P> && a.alongDepth && e.k % step == 0 && a.ld % step == 0;
  }
  /// All rows begin at the same place of a page, so that they share what the first cache keeps for
  /// it, and are half as many again. (With fewer too many they take less time than packing.)
  static bool rowsCollide(const Unit &unit, const OperandOf<E> &a) {
    constexpr int64_t page = 4096 / sizeof(E);
    return a.ld % page == 0 && 2 * unit.shape.mostRows > 3 * waysOfFirstCache();
  }
  /// Panels of equal numbers of rows: one or two would be multiplied as slowly as four. (So there
  /// are no more than kFewRows in a panel only where there are no more at all.)
  OnVectors(const Unit &unit, const OperandOf<E> &a, const Extents &e)
      : unit(unit), depth(unit.shape.mostSteps * step),
        panelRows(quotient(e.m, quotient(e.m, unit.shape.mostRows))),
        packsLeft(packingLeftPays(unit, a, e)), packsRight(hasManyRows(e)) {}
  int64_t leftElements(int64_t depths) const {
    return quotient(depths, step) * unit.shape.rowPlaces;
  }
  void packLeft(const OperandOf<E> &from, const Slice &part, Packed *to) const {
    unit.packLeft(from, part, panelRows, to);
  }
  Grid deal(int64_t m, int64_t n, int64_t threads) const {
    return packsRight ? Grid::byColumns(m, n, threads, panelRows, unit.shape.mostColumns)
                      : Grid(m, n, 1);
  }
  /// What `multiply` needs beside its operands.
  int64_t roomElements(int64_t depths) const {
    return packsRight ? quotient(depths, step) * unit.shape.mostColumns : 0;
  }
  template <typename To>
  void multiply(const OperandOf<E> &a, const Slice &left, const Packed *packed,
                const OperandOf<E> &b, const Slice &right, Packed *room, bool isPacked,
                const Destination<To> &c) const {
    unit.multiply(LeftRows<E, P>{packed, a, left, panelRows}, b, right, {room, isPacked}, c);
  }

  const Unit &unit;
  const int64_t depth; // most that is packed at once
  const int64_t panelRows;
  const bool packsLeft, packsRight;
};

} // namespace titan::rt
