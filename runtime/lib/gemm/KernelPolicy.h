// What packs and multiplies parts of a product by blocks (BlockedGemm.cpp), which knows no more of
// the processor.
#pragma once

#include "AmxFloat.h"
#include "Grid.h"
#include "Operands.h"
#include "VectorUnit.h"

namespace titan::rt {

/// How floats are multiplied on tiles.
struct AmxFloatPolicy {
  using Element = float;
  using Packed = uint16_t;
  static constexpr int64_t rows = 1024, columns = 512, depth = 1024; // most that is packed at once
  static constexpr int64_t kStep = amx::kPanel, panelRows = amx::kPanel, panelColumns = amx::kPanel;
  static constexpr bool sharesRight = true; // B is packed by all threads for all of them
  static constexpr bool packsLeft = true;

  struct Unit {};
  AmxFloatPolicy(const Unit &, const FloatOperand &, const Extents &) {}
  static int64_t leftElements(int64_t kCount) { return amx::panelElements(kCount); }
  static int64_t rightElements(int64_t kCount) { return amx::panelElements(kCount); }
  void packLeft(const FloatOperand &from, const Slice &part, Packed *to) const {
    amx::packLeft(from, part, to);
  }
  void packRight(const FloatOperand &from, const Slice &part, Packed *to) const {
    amx::packRight(from, part, to);
  }
  static Grid partition(int64_t m, int64_t n, int64_t threads) {
    return Grid(m, n, tileCount(m * n, threads), panelRows, panelColumns);
  }
  void multiply(const FloatOperand &, const Slice &left, const Packed *a, const FloatOperand &,
                const Slice &right, Packed *b, bool /*isPacked*/,
                const Destination<float> &c) const {
    amx::multiplyPanels(a, b, {left.rows, right.rows, right.kCount}, c.adds, c.to, c.ld);
  }
};

/// How elements are multiplied on vectors.
template <typename E, typename P, typename U> struct VectorPolicy {
  using Element = E;
  using Packed = P;
  using Unit = U;
  static constexpr int64_t kStep = kDepthOfStep<P>, panelColumns = 32;
  static constexpr int64_t rows = 1024, columns = 768;
  static constexpr bool sharesRight = false;

  static bool hasManyRows(const Extents &e) { return e.m > kSkinnyRows; }
  /// Of what lies along the depth, only where many columns use it, or where its rows collide.
  static bool packingLeftPays(const Unit &unit, const OperandOf<E> &a, const Extents &e) {
    return !canReadUnpacked(a, e) || !hasManyRows(e) || e.n > 4096 || rowsAliasInL1(unit, a);
  }
  /// A row can be read as it lies: a step of it is there as a whole, in all rows.
  static bool canReadUnpacked(const OperandOf<E> &a, const Extents &e) {
    return kReadsUnpacked<E, P> && a.isKContiguous && e.k % kStep == 0 && a.ld % kStep == 0;
  }
  /// All rows begin at the same place of a page, so that they share what the first cache keeps for
  /// it, and are half as many again. (With fewer too many they take less time than packing.)
  static bool rowsAliasInL1(const Unit &unit, const OperandOf<E> &a) {
    constexpr int64_t page = 4096 / sizeof(E);
    return a.ld % page == 0 && 2 * unit.shape.maxRows > 3 * l1Associativity();
  }
  /// Panels of equal numbers of rows: one or two would be multiplied as slowly as four. (So there
  /// are no more than kSkinnyRows in a panel only where there are no more at all.)
  VectorPolicy(const Unit &unit, const OperandOf<E> &a, const Extents &e)
      : unit(unit), depth(unit.shape.maxSteps * kStep),
        panelRows(quotient(e.m, quotient(e.m, unit.shape.maxRows))),
        packsLeft(packingLeftPays(unit, a, e)), packsRight(hasManyRows(e)) {}
  int64_t leftElements(int64_t kCount) const {
    return quotient(kCount, kStep) * unit.shape.panelStride;
  }
  void packLeft(const OperandOf<E> &from, const Slice &part, Packed *to) const {
    unit.packLeft(from, part, panelRows, to);
  }
  Grid partition(int64_t m, int64_t n, int64_t threads) const {
    return packsRight ? Grid::byColumns(m, n, threads, panelRows, unit.shape.maxColumns)
                      : Grid(m, n, 1);
  }
  /// What `multiply` needs beside its operands.
  int64_t packBufferElements(int64_t kCount) const {
    return packsRight ? quotient(kCount, kStep) * unit.shape.maxColumns : 0;
  }
  template <typename To>
  void multiply(const OperandOf<E> &a, const Slice &left, const Packed *packed,
                const OperandOf<E> &b, const Slice &right, Packed *packBuffer, bool isPacked,
                const Destination<To> &c) const {
    unit.multiply(LeftRows<E, P>{packed, a, left, panelRows}, b, right, {packBuffer, isPacked}, c);
  }

  const Unit &unit;
  const int64_t depth; // most that is packed at once
  const int64_t panelRows;
  const bool packsLeft, packsRight;
};

} // namespace titan::rt
