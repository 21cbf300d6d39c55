// The products of a kind of vectors. For translation units as VectorPanels.h is.
#pragma once

#include "VectorPanels.h"
#include "VectorThin.h"

namespace titan::rt {

template <typename V, typename E, typename P, typename To>
static void multiplyOn(const LeftRows<E, P> &left, const OperandOf<E> &b, const Slice &part,
                       const Room<P> &room, const Destination<To> &c) {
  const Extents extents{left.slice.lines, part.lines, part.depths};
  if (left.panelRows <= kFewRows)
    return multiplyFew<V>(left.packed, extents.m, b, part, c);
  if (!room.isPacked)
    packPanels<V, kPanelColumns<V>>(b, part, kPanelColumns<V>, room.panels);
  if constexpr (kPacksAsItLies<E, P>)
    if (!left.packed) {
      const E *rows = left.operand.at(left.slice.line, left.slice.depth);
      return multiplyAll<V, RowsInPlace<V, E, P>>(reinterpret_cast<const P *>(rows),
                                                  left.operand.ld, left.panelRows, room.panels,
                                                  extents, c);
    }
  multiplyAll<V, PackedRows<V, P>>(left.packed, 0, left.panelRows, room.panels, extents, c);
}

/// What a unit of either kind does.
template <typename V, typename E, typename P, typename Unit> class UnitOn : public Unit {
public:
  constexpr UnitOn(int64_t mostSteps, int64_t mostColumns)
      : Unit({V::mostRows, V::width, mostSteps, mostColumns}) {}
  void packLeft(const OperandOf<E> &from, const Slice &part, int64_t rows, P *to) const override {
    packPanels<V, V::width>(from, part, rows, to);
  }
  using Unit::multiply;
  void multiply(const LeftRows<E, P> &left, const OperandOf<E> &b, const Slice &part,
                const Room<P> &room, const Destination<float> &c) const override {
    multiplyOn<V>(left, b, part, room, c);
  }

protected:
  ~UnitOn() = default;
};

template <typename V> class FloatsOn final : public UnitOn<V, float, float, FloatVectors> {
public:
  using UnitOn<V, float, float, FloatVectors>::UnitOn;
};

template <typename V, typename P>
class Bfloat16On final : public UnitOn<V, uint16_t, P, Bfloat16Vectors<P>> {
public:
  using Base = UnitOn<V, uint16_t, P, Bfloat16Vectors<P>>;
  using Base::Base;
  using Base::multiply;
  void multiply(const LeftRows<uint16_t, P> &left, const Bfloat16Operand &b, const Slice &part,
                const Room<P> &room, const Destination<bf16> &c) const override {
    multiplyOn<V>(left, b, part, room, c);
  }
};

} // namespace titan::rt
