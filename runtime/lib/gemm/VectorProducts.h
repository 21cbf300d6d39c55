// GEMM on vectors of one instruction set. The restrictions of VectorPanels.h apply.
#pragma once

#include "VectorPanels.h"
#include "VectorSkinny.h"

namespace titan::rt {

/// One block of C by the kernel for few rows, for unpacked rows or for packed panels of A.
template <typename V, typename E, typename P, typename To>
static void multiplyWith(const LeftRows<E, P> &left, const OperandOf<E> &b,
                         const Slice &operandSlice, const PackBuffer<P> &packBuffer,
                         const Destination<To> &c) {
  const Extents extents{left.slice.rows, operandSlice.rows, operandSlice.kCount};
  if (left.panelRows <= kSkinnyRows)
    return multiplySkinny<V>(left.packed, extents.m, b, operandSlice, c);
  if (!packBuffer.isPacked)
    packPanels<V, kPanelColumns<V>>(b, operandSlice, kPanelColumns<V>, packBuffer.panels);
  if constexpr (kReadsUnpacked<E, P>)
    if (!left.packed) {
      const E *rows = left.operand.at(left.slice.firstRow, left.slice.firstK);
      return macrokernel<V, UnpackedRows<V, E, P>>(reinterpret_cast<const P *>(rows),
                                                   left.operand.ld, left.panelRows,
                                                   packBuffer.panels, extents, c);
    }
  macrokernel<V, PackedRows<V, P>>(left.packed, 0, left.panelRows, packBuffer.panels, extents, c);
}

/// Shared by the units of all element types.
template <typename V, typename E, typename P, typename Unit> class VectorUnitOf : public Unit {
public:
  constexpr VectorUnitOf(int64_t maxSteps, int64_t maxColumns)
      : Unit({V::maxRows, V::width, maxSteps, maxColumns}) {}
  void packLeft(const OperandOf<E> &from, const Slice &operandSlice, int64_t rows,
                P *to) const override {
    packPanels<V, V::width>(from, operandSlice, rows, to);
  }
  using Unit::multiply;
  void multiply(const LeftRows<E, P> &left, const OperandOf<E> &b, const Slice &operandSlice,
                const PackBuffer<P> &packBuffer, const Destination<float> &c) const override {
    multiplyWith<V>(left, b, operandSlice, packBuffer, c);
  }

protected:
  ~VectorUnitOf() = default;
};

template <typename V>
class FloatVectorsOf final : public VectorUnitOf<V, float, float, FloatVectors> {
public:
  using VectorUnitOf<V, float, float, FloatVectors>::VectorUnitOf;
};

template <typename V, typename P>
class Bfloat16VectorsOf final : public VectorUnitOf<V, uint16_t, P, Bfloat16Vectors<P>> {
public:
  using Base = VectorUnitOf<V, uint16_t, P, Bfloat16Vectors<P>>;
  using Base::Base;
  using Base::multiply;
  void multiply(const LeftRows<uint16_t, P> &left, const Bfloat16Operand &b,
                const Slice &operandSlice, const PackBuffer<P> &packBuffer,
                const Destination<bf16> &c) const override {
    multiplyWith<V>(left, b, operandSlice, packBuffer, c);
  }
};

} // namespace titan::rt
