// Kernel policies of the blocked GEMM (BlockedGemm.cpp): block sizes, packing and microkernels.
#pragma once

#include "AmxFloat.h"
#include "Grid.h"
#include "Operands.h"
#include "VectorUnit.h"

namespace titan::rt {

/// f32 on AMX tiles.
struct AmxFloatPolicy {
  using Element = float;
  using Packed = uint16_t;
  static constexpr int64_t rows = 1024, columns = 512, depth = 1024; // largest packed blocks
  static constexpr int64_t kStep = amx::kPanel, panelRows = amx::kPanel, panelColumns = amx::kPanel;
  static constexpr bool hasSharedRight = true; // all threads pack B once and share it
  static constexpr bool packsLeft = true;

  struct Unit {};
  AmxFloatPolicy(const Unit &, const FloatOperand &, const Extents &) {}
  static int64_t leftElements(int64_t kCount) { return amx::panelElements(kCount); }
  static int64_t rightElements(int64_t kCount) { return amx::panelElements(kCount); }
  void packLeft(const FloatOperand &from, const Slice &slice, Packed *to) const {
    amx::packLeft(from, slice, to);
  }
  void packRight(const FloatOperand &from, const Slice &slice, Packed *to) const {
    amx::packRight(from, slice, to);
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

/// f32 or bf16 on vectors.
template <typename E, typename P, typename U> struct VectorPolicy {
  using Element = E;
  using Packed = P;
  using Unit = U;
  static constexpr int64_t kStep = kDepthOfStep<P>, panelColumns = 32;
  static constexpr int64_t rows = 1024, columns = 768;
  static constexpr bool hasSharedRight = false;

  static bool hasManyRows(const Extents &e) { return e.m > kSkinnyRows; }
  /// K-major rows of A are packed only if many columns reuse them, or if they alias in L1.
  static bool packingLeftPays(const Unit &unit, const OperandOf<E> &a, const Extents &e) {
    return !canReadUnpacked(a, e) || !hasManyRows(e) || e.n > 4096 || rowsAliasInL1(unit, a);
  }
  /// Whether A can be read unpacked: every row consists of whole k-steps.
  static bool canReadUnpacked(const OperandOf<E> &a, const Extents &e) {
    return kReadsUnpacked<E, P> && a.isKContiguous && e.k % kStep == 0 && a.ld % kStep == 0;
  }
  /// Whether rows start at the same offset of a page, so they alias to one L1 set, and a panel has
  /// at least 1.5x as many rows as the cache has ways. (With fewer, packing costs more than the
  /// conflicts.)
  static bool rowsAliasInL1(const Unit &unit, const OperandOf<E> &a) {
    constexpr int64_t page = 4096 / sizeof(E);
    return a.ld % page == 0 && 2 * unit.shape.maxRows > 3 * l1Associativity();
  }
  /// Panels have equal numbers of rows, because a panel of one or two rows is as slow as one of
  /// four. (So a panel has at most kSkinnyRows rows only if A has.)
  VectorPolicy(const Unit &unit, const OperandOf<E> &a, const Extents &e)
      : unit(unit), depth(unit.shape.maxSteps * kStep),
        panelRows(quotient(e.m, quotient(e.m, unit.shape.maxRows))),
        packsLeft(packingLeftPays(unit, a, e)), packsRight(hasManyRows(e)) {}
  int64_t leftElements(int64_t kCount) const {
    return quotient(kCount, kStep) * unit.shape.panelStride;
  }
  void packLeft(const OperandOf<E> &from, const Slice &slice, Packed *to) const {
    unit.packLeft(from, slice, panelRows, to);
  }
  Grid partition(int64_t m, int64_t n, int64_t threads) const {
    return packsRight ? Grid::byColumns(m, n, threads, panelRows, unit.shape.maxColumns)
                      : Grid(m, n, 1);
  }
  /// Elements of the pack buffer that `multiply` needs.
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
  const int64_t depth; // largest packed depth
  const int64_t panelRows;
  const bool packsLeft, packsRight;
};

} // namespace titan::rt
