// Vectorisable sine and cosine, in the style of VectorMath.h.
//
//   function       largest error seen (units in the last place; see VectorMathTest)
//   vcosTurns      2       cos(2 pi x), double only, x in [0, 1]
//   vsin, vcos     2.5     float up to 1e8, double up to 3e9; beyond, where adjacent floats are
//                          more than a turn apart, some number in [-1, 1]
//
// Method: x is an integer number of quarter turns and a rest r, |r| <= pi/4. pi/2 is divided into
// terms with so few digits that their products are exact (W. Cody, W. Waite, "Software manual for
// the elementary functions", 1980); float is reduced in double. Sine and cosine of r are Chebyshev
// fits (computed with mpmath). The first terms of the cosine are added without loss, as K. Ng does
// (fdlibm, Sun Microsystems, 1993). The number of quarters selects the function and the sign.
#pragma once

#include "base/math/VectorMath.h"

namespace titan {

namespace vector_math {

/// sin(r) and cos(r) for |r| <= pi/4.
template <typename T> struct SineCosine {
  T sine, cosine;
};

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

TITAN_VECTOR_INLINE float sineTail(float z) {
  float p = -0x1.9ac856p-13f;
  p = p * z + 0x1.110c26p-7f;
  return p * z - 0x1.555552p-3f;
}
TITAN_VECTOR_INLINE float cosineTail(float z) {
  float p = 0x1.9bd786p-16f;
  p = p * z - 0x1.6c12d0p-10f;
  return p * z + 0x1.555554p-5f;
}

template <typename T> TITAN_VECTOR_INLINE SineCosine<T> sineCosine(T r) {
  const T z = r * r, half = T(0.5) * z, most = T(1) - half;
  return {r + r * (z * sineTail(z)), most + (((T(1) - most) - half) + z * z * cosineTail(z))};
}

/// The sine of `quarters` quarter turns and r.
template <typename T> TITAN_VECTOR_INLINE T computeSine(typename Constants<T>::Bits quarters, T r) {
  const SineCosine<T> both = sineCosine(r);
  const T y = quarters & 1 ? both.cosine : both.sine;
  return quarters & 2 ? -y : y;
}

/// An angle as quarter turns and the rest.
template <typename T> struct Angle {
  typename Constants<T>::Bits quarters;
  T rest;
};

constexpr double kQuartersPerRadian = 0.63661977236758134308;

/// At most pi/4 even for numbers too large to reduce; NaN for infinity.
TITAN_VECTOR_INLINE double boundRest(double r) {
  return clamp(r, -0.7854, 0.7854);
}

TITAN_VECTOR_INLINE Angle<double> reduceAngle(double x) {
  const Rounded<double> n = roundToInteger(x * kQuartersPerRadian);
  double r = x - n.value * 0x1.921fbp+0; // 22 bits of pi/2 each, then the rest
  r -= n.value * 0x1.5110bp-22;
  r -= n.value * 0x1.1846980000000p-44;
  r -= n.value * 0x1.3198a2e037073p-69;
  return {n.integer, boundRest(r)};
}
TITAN_VECTOR_INLINE Angle<float> reduceAngle(float x) {
  const double wide = x;
  const Rounded<double> n = roundToInteger(wide * kQuartersPerRadian);
  const double r = (wide - n.value * 0x1.921fb54p+0) - n.value * 0x1.10b4611a62633p-30; // 27 bits
  return {static_cast<int32_t>(n.integer), static_cast<float>(boundRest(r))};
}

template <typename T> TITAN_VECTOR_INLINE T sinImpl(T x) {
  const Angle<T> angle = reduceAngle(x);
  return computeSine(angle.quarters, angle.rest);
}
template <typename T> TITAN_VECTOR_INLINE T cosImpl(T x) {
  const Angle<T> angle = reduceAngle(x);
  return computeSine(angle.quarters + 1, angle.rest);
}

} // namespace vector_math

/// The reduction to a quarter turn is exact here.
TITAN_VECTOR_INLINE double vcosTurns(double x) {
  const vector_math::Rounded<double> quarters = vector_math::roundToInteger(4 * x);
  const double r = (4 * x - quarters.value) * 1.57079632679489661923;
  return vector_math::computeSine(quarters.integer + 1, r);
}

TITAN_VECTOR_INLINE float vsin(float x) {
  return vector_math::sinImpl(x);
}
TITAN_VECTOR_INLINE double vsin(double x) {
  return vector_math::sinImpl(x);
}
TITAN_VECTOR_INLINE float vcos(float x) {
  return vector_math::cosImpl(x);
}
TITAN_VECTOR_INLINE double vcos(double x) {
  return vector_math::cosImpl(x);
}

} // namespace titan
