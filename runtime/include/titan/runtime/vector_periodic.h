// Sine and cosine that a compiler can vectorise, as vector_math.h has exponentials and logarithms.
//
//   function       largest error seen (units in the last place; see VectorMathTest)
//   vcosTurns      2       cos(2 pi x), of double alone, x in [0, 1]
//
// Method: x is a whole number of quarter turns and a rest r, |r| <= pi/4; sine and cosine of r by a
// Chebyshev fit (computed with mpmath), the cosine's first terms added so that nothing is lost, as
// K. Ng does (fdlibm, Sun Microsystems, 1993); the number of quarters says which of them, and its
// sign.
#pragma once

#include "titan/runtime/vector_math.h"

namespace titan::rt {

namespace vector_math {

/// sin(r) and cos(r) for |r| <= pi/4.
template <typename T> struct SineCosine { T sine, cosine; };

/// (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 for z = r^2.
TITAN_VECTOR_INLINE double sineTail(double z) {
  double p = 0x1.5e0a4fc16be59p-33;
  p = p * z - 0x1.ae6008d114485p-26;
  p = p * z + 0x1.71de37946ed6dp-19;
  p = p * z - 0x1.a01a019e820aep-13;
  p = p * z + 0x1.1111111110babp-7;
  return p * z - 0x1.5555555555555p-3;
}
TITAN_VECTOR_INLINE double cosineTail(double z) {
  double p = -0x1.907cd8ff5ede7p-37;
  p = p * z + 0x1.1eeb67d026ec6p-29;
  p = p * z - 0x1.27e4fa16cc2d1p-22;
  p = p * z + 0x1.a01a019f4ddfdp-16;
  p = p * z - 0x1.6c16c16c16963p-10;
  return p * z + 0x1.5555555555555p-5;
}

template <typename T> TITAN_VECTOR_INLINE SineCosine<T> sineCosine(T r) {
  const T z = r * r, half = T(0.5) * z, most = T(1) - half;
  return {r + r * (z * sineTail(z)), most + (((T(1) - most) - half) + z * z * cosineTail(z))};
}

/// The cosine of `quarters` quarter turns and r.
template <typename T> TITAN_VECTOR_INLINE T cosineOf(typename Constants<T>::Bits quarters, T r) {
  const SineCosine<T> both = sineCosine(r);
  const T y = quarters & 1 ? both.sine : both.cosine;
  return (quarters + 1) & 2 ? -y : y;
}

} // namespace vector_math

/// The reduction to a quarter turn is exact here.
TITAN_VECTOR_INLINE double vcosTurns(double x) {
  const vector_math::Rounded<double> quarters = vector_math::roundToInteger(4 * x);
  const double r = (4 * x - quarters.value) * 1.57079632679489661923;
  return vector_math::cosineOf(quarters.integer, r);
}

} // namespace titan::rt
