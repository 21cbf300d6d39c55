// f32 and bf16 GEMM on vectors: 512 bits, or 256 bits with FMA. Operands are packed into panels,
// which threads may share; C is computed tile by tile.
//
// A packed element has 32 bits: a float (possibly a widened bf16) or a pair of bf16 with
// consecutive k. For each k-step, a panel of A stores one vector with a few rows, and a panel of B
// two vectors of columns. Registers hold the sums of all rows, two vectors of columns and one
// broadcast element of A. Padding along k is 0.
#pragma once

#include "Inlined.h"
#include "Operands.h"

#include "titan/runtime/bfloat16.h"

#include <cstdint>

namespace titan::rt {

/// The elements of k in one packed element.
template <typename P> constexpr int64_t kDepthOfStep = 1;
template <> inline constexpr int64_t kDepthOfStep<uint32_t> = 2;
/// Whether a K-major element has the packed form already.
template <typename E, typename P>
constexpr bool kReadsUnpacked = sizeof(P) == kDepthOfStep<P> * sizeof(E);

/// Rows of A in panels of `panelRows`: packed, or unpacked and K-major if `packed` is null.
template <typename E, typename P> struct LeftRows {
  const P *packed;
  OperandOf<E> operand;
  Slice slice;
  int64_t panelRows;
};

/// Where a thread packs columns of B, in whole panels.
template <typename P> struct PackBuffer {
  P *panels;
  bool isPacked; // by the previous call, with the same columns
};

/// The packing parameters of a vector unit.
struct VectorShape {
  int64_t maxRows;     // MR: rows of a panel of A
  int64_t panelStride; // elements of one k-step of a panel of A
  int64_t maxSteps;    // k-steps of a sum, before it is added to C
  int64_t maxColumns;  // columns whose panels stay in L2 next to a panel of A
};

/// Packs elements E as P, and multiplies them.
template <typename E, typename P> class VectorUnit {
public:
  virtual void packLeft(const OperandOf<E> &from, const Slice &operandSlice, int64_t rows,
                        P *to) const = 0;
  /// C[m, n] = A B for some rows and a slice of B, on the calling thread. The columns are packed
  /// first unless `packBuffer` holds them. At most kSkinnyRows packed rows read B unpacked and need
  /// no buffer. The results are bitwise equal.
  virtual void multiply(const LeftRows<E, P> &left, const OperandOf<E> &b,
                        const Slice &operandSlice, const PackBuffer<P> &packBuffer,
                        const Destination<float> &c) const = 0;

  const VectorShape shape;

protected:
  constexpr explicit VectorUnit(const VectorShape &shape) : shape(shape) {}
  ~VectorUnit() = default;
};

/// The most rows of A for which B is read unpacked.
constexpr int64_t kSkinnyRows = 3;

using FloatVectors = VectorUnit<float, float>;

/// The same for bf16 operands, with C in float or bf16.
template <typename P> class Bfloat16Vectors : public VectorUnit<uint16_t, P> {
public:
  using VectorUnit<uint16_t, P>::multiply;
  virtual void multiply(const LeftRows<uint16_t, P> &left, const Bfloat16Operand &b,
                        const Slice &operandSlice, const PackBuffer<P> &packBuffer,
                        const Destination<bf16> &c) const = 0;

protected:
  using VectorUnit<uint16_t, P>::VectorUnit;
  ~Bfloat16Vectors() = default;
};

/// The widest unit of this processor with at most `maxBits`; null if there is none. The bf16 unit
/// widens while it packs.
const FloatVectors *floatVectors(int maxBits = 512);
const Bfloat16Vectors<float> *wideningVectors(int maxBits = 512);
/// The unit for bf16 pairs (subnormals count as 0, as on AMX). Null unless the processor has pair
/// products that are faster than float, or TITAN_BF16 requests them.
const Bfloat16Vectors<uint32_t> *pairVectors();

/// Whether the processor supports every instruction set that the code for such vectors is compiled
/// for.
bool hasVectors256();
bool hasVectors512();

/// Ways of the L1 data cache: how many rows with the same page offset it holds.
int64_t l1Associativity();

// Null if the compiler does not support the instruction set. Call them only on processors that do.
namespace avx2 {
const FloatVectors *floatVectors();
const Bfloat16Vectors<float> *wideningVectors();
} // namespace avx2
namespace avx512 {
const FloatVectors *floatVectors();
const Bfloat16Vectors<float> *wideningVectors();
const Bfloat16Vectors<uint32_t> *pairVectors();
/// Transposes factor * lanes[depth, rounded up to 16][32] into rows; needs AVX512_BF16.
void storeRows(const float *lanes, int64_t depth, float factor, bf16 *to, int64_t ld, int64_t rows);
} // namespace avx512

} // namespace titan::rt
