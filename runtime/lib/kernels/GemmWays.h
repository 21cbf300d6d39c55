// What packs and multiplies parts of a product by blocks (BlockedGemm.cpp), which knows no more of
// the processor.
#pragma once

#include "AmxFloat.h"
#include "Avx512.h"
#include "Grid.h"
#include "Operands.h"

#include <type_traits>

namespace titan::rt {

/// How floats are multiplied on tiles.
struct FloatsOnTiles {
  using Element = float;
  using Packed = uint16_t;
  static constexpr int64_t rows = 1024, columns = 512, depth = 1024; // most that is packed at once
  static constexpr int64_t step = amx::kPanel, panelRows = amx::kPanel, panelColumns = amx::kPanel;
  static constexpr bool sharesRight = true; // B is packed by all threads for all of them
  static constexpr bool packsLeft = true;

  FloatsOnTiles(const FloatOperand &, const Extents &) {}
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
                const Slice &right, Packed *b, const Destination<float> &c) const {
    amx::multiplyPanels(a, b, {left.lines, right.lines, right.depths}, c.adds, c.to, c.ld);
  }
};

/// How elements are multiplied on vectors, so many of depth a step.
template <typename E, typename P> struct OnVectors {
  using Element = E;
  using Packed = P;
  static constexpr int64_t step = sizeof(P) / sizeof(E), panelColumns = avx512::kColumns;
  static constexpr int64_t rows = 1024, columns = 768, depth = avx512::kMostSteps<P> * step;
  static constexpr bool sharesRight = false;

  static bool hasManyRows(const Extents &e) { return e.m > avx512::kFewRows; }
  /// Of what lies along the depth, only where many columns use it.
  static bool packingLeftPays(const OperandOf<E> &a, const Extents &e) {
    return sizeof(P) > sizeof(E) || !a.alongDepth || !hasManyRows(e) || e.n > 4096;
  }
  /// Panels of equal numbers of rows: one or two would be multiplied as slowly as four.
  OnVectors(const OperandOf<E> &a, const Extents &e)
      : panelRows(quotient(e.m, quotient(e.m, avx512::kMostRows))),
        packsLeft(packingLeftPays(a, e)), packsRight(hasManyRows(e)) {}
  static int64_t leftElements(int64_t depths) {
    return quotient(depths, step) * avx512::kRowPlaces;
  }
  void packLeft(const OperandOf<E> &from, const Slice &part, Packed *to) const {
    avx512::packLeft(from, part, panelRows, to);
  }
  Grid deal(int64_t m, int64_t n, int64_t threads) const {
    return packsRight ? Grid::byColumns(m, n, threads, panelRows) : Grid(m, n, 1);
  }
  /// What `multiply` needs beside its operands.
  int64_t roomElements(int64_t depths) const {
    return packsRight ? quotient(depths, step) * Grid::widest : 0;
  }
  /// From panels of A, or where it is not packed from A itself, and some columns of B, which are
  /// packed into the room; a few rows from B itself.
  template <typename To>
  void multiply(const OperandOf<E> &a, const Slice &left, const Packed *packed,
                const OperandOf<E> &b, const Slice &right, Packed *room,
                const Destination<To> &c) const {
    if (!packsRight)
      return avx512::multiplyFew(packed, left.lines, b, right, c);
    if constexpr (std::is_same_v<E, float>)
      if (!packsLeft)
        return avx512::multiplyInPlace(a, left, panelRows, b, right, room, c);
    avx512::multiplyPanels(packed, panelRows, left.lines, b, right, room, c);
  }

  const int64_t panelRows;
  const bool packsLeft, packsRight;
};

} // namespace titan::rt
