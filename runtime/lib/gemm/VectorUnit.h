// Products of f32 and of bf16 on the processor's vectors: of 512 bits, or of 256 with
// multiply-adds. Operands are packed by panels, which threads may share, and multiplied part by
// part of the result.
//
// Packed is an element of 32 bits: a float, which may have been a bf16, or a pair of bf16 that
// follow each other in depth. A panel of a left operand has for each step of depth as many places
// as a vector for a few rows, one of a right operand two vectors of columns: the sums of all rows,
// two vectors of columns and a row's broadcast element are what the registers hold. What is missing
// of a panel's depth is 0.
#pragma once

#include "Inlined.h"
#include "Operands.h"

#include "titan/runtime/bfloat16.h"

#include <cstdint>

namespace titan::rt {

/// Of an operand's depth, what is packed into one element.
template <typename P> constexpr int64_t kDepthOfStep = 1;
template <> inline constexpr int64_t kDepthOfStep<uint32_t> = 2;
/// Whether that is what lies in memory, along the depth.
template <typename E, typename P>
constexpr bool kReadsUnpacked = sizeof(P) == kDepthOfStep<P> * sizeof(E);

/// Some rows of a left operand, in panels of so many: packed, or where nothing is packed as they
/// lie in memory, along the depth.
template <typename E, typename P> struct LeftRows {
  const P *packed;
  OperandOf<E> operand;
  Slice slice;
  int64_t panelRows;
};

/// Where a thread packs columns, in whole panels.
template <typename P> struct PackBuffer {
  P *panels;
  bool isPacked; // by the call before, which had the same columns
};

/// How a kind of vectors likes operands to be packed.
struct VectorShape {
  int64_t maxRows;     // of a panel of a left operand
  int64_t panelStride; // that a step of it takes
  int64_t maxSteps;    // of depth that are added up before they join C
  int64_t maxColumns;  // whose panels stay in the second cache beside what they are multiplied by
};

/// What packs elements E as P, and multiplies them.
template <typename E, typename P> class VectorUnit {
public:
  virtual void packLeft(const OperandOf<E> &from, const Slice &part, int64_t rows, P *to) const = 0;
  /// C[m, n] = A B of some rows and a part of B, on the calling thread. The part's columns are
  /// packed first, unless the room holds them already; but rows in panels of at most kSkinnyRows,
  /// which are packed, take columns as they lie, and no room. All that gives the same bits.
  virtual void multiply(const LeftRows<E, P> &left, const OperandOf<E> &b, const Slice &part,
                        const PackBuffer<P> &packBuffer, const Destination<float> &c) const = 0;

  const VectorShape shape;

protected:
  constexpr explicit VectorUnit(const VectorShape &shape) : shape(shape) {}
  ~VectorUnit() = default;
};

constexpr int64_t kSkinnyRows = 3;

using FloatVectors = VectorUnit<float, float>;

/// The same for bf16, whose products may be rounded to it.
template <typename P> class Bfloat16Vectors : public VectorUnit<uint16_t, P> {
public:
  using VectorUnit<uint16_t, P>::multiply;
  virtual void multiply(const LeftRows<uint16_t, P> &left, const Bfloat16Operand &b,
                        const Slice &part, const PackBuffer<P> &packBuffer,
                        const Destination<bf16> &c) const = 0;

protected:
  using VectorUnit<uint16_t, P>::VectorUnit;
  ~Bfloat16Vectors() = default;
};

/// Of the widest vectors that this processor has, of at most so many bits; null if it has none.
/// Those of bf16 widen it while they pack.
const FloatVectors *floatVectors(int maxBits = 512);
const Bfloat16Vectors<float> *wideningVectors(int maxBits = 512);
/// Of pairs of bf16 (numbers below the normal range count as 0, as on tiles): null unless the
/// processor multiplies them, and faster than floats, or TITAN_BF16 asks for them.
const Bfloat16Vectors<uint32_t> *pairVectors();

/// Whether the processor knows all that code for such vectors is compiled for.
bool hasVectors256();
bool hasVectors512();

/// How many lines that begin at the same place of a page a core's first cache keeps.
int64_t l1Associativity();

// Null where the compiler did not know them. They run on the processors that have such vectors.
namespace avx2 {
const FloatVectors *floatVectors();
const Bfloat16Vectors<float> *wideningVectors();
} // namespace avx2
namespace avx512 {
const FloatVectors *floatVectors();
const Bfloat16Vectors<float> *wideningVectors();
const Bfloat16Vectors<uint32_t> *pairVectors();
/// lanes[depth, rounded up to 16][32], times a factor, back into lines that run along depth; with
/// the instructions of pairs.
void storeRows(const float *lanes, int64_t depth, float factor, bf16 *to, int64_t ld, int64_t rows);
} // namespace avx512

} // namespace titan::rt
