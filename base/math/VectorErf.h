// A vectorisable error function, in the style of VectorMath.h.
//
//   function       largest error seen (units in the last place; see VectorMathTest)
//   verf           2       erf beyond 4 (float) or 6 (double) is 1
//
// Method: up to 1, erf(x) = x + x p(x^2). Beyond, 1 - e^-q(x), with q fitted to -ln erfc; q may be
// less exact where erfc is smaller. p and q are weighted least-squares fits. Their weights were
// raised where the error was largest until it was even (C. Lawson, 1961; computed with mpmath).
// Both are computed, since a vector contains arguments of both ranges.
#pragma once

#include "base/math/VectorMath.h"

namespace titan {

namespace vector_math {

/// erf(x) / x - 1 for z = x^2 <= 1.
TITAN_VECTOR_INLINE float erfRatio(float z) {
  float p = 0x1.496948p-14f;
  p = p * z - 0x1.a3f6a8p-11f;
  p = p * z + 0x1.5405a6p-8f;
  p = p * z - 0x1.b7f90cp-6f;
  p = p * z + 0x1.ce2cf8p-4f;
  p = p * z - 0x1.81273ep-2f;
  return p * z + 0x1.06eba8p-3f;
}
TITAN_VECTOR_INLINE double erfRatio(double z) {
  double p = -0x1.abadcf01e25ccp-31;
  p = p * z + 0x1.d71ae4e3475c3p-27;
  p = p * z - 0x1.5c0720a1a24a7p-23;
  p = p * z + 0x1.b97fd2c8bb9a2p-20;
  p = p * z - 0x1.f4ca4d529767fp-17;
  p = p * z + 0x1.f9a2baa70f92ap-14;
  p = p * z - 0x1.c02db03dc19c0p-11;
  p = p * z + 0x1.565bccf92a9a5p-8;
  p = p * z - 0x1.b82ce311fa8f2p-6;
  p = p * z + 0x1.ce2f21a040d15p-4;
  p = p * z - 0x1.812746b0379bdp-2;
  return p * z + 0x1.06eba8214db68p-3;
}

/// -ln erfc(1 + t) for t >= 0, in the range where erf differs from 1.
TITAN_VECTOR_INLINE float minusLogErfc(float t) {
  float p = -0x1.86e8cp-13f;
  p = p * t + 0x1.df94bcp-10f;
  p = p * t - 0x1.4441e6p-7f;
  p = p * t + 0x1.53ff3ep-5f;
  p = p * t + 0x1.afad1cp-1f;
  p = p * t + 0x1.51c9aap+1f;
  return p * t + 0x1.d97fcp+0f;
}
TITAN_VECTOR_INLINE double minusLogErfc(double t) {
  double p = 0x1.5acf0059c18a2p-38;
  p = p * t - 0x1.096f24503af11p-33;
  p = p * t + 0x1.6e4b399277f3cp-30;
  p = p * t - 0x1.276289de0acc2p-27;
  p = p * t + 0x1.216738e7945d0p-25;
  p = p * t - 0x1.f93ae0d8baebbp-25;
  p = p * t - 0x1.b47cacc7d4731p-23;
  p = p * t + 0x1.1dd94ef43df71p-19;
  p = p * t - 0x1.4470e91358b8bp-17;
  p = p * t + 0x1.c84b49bbe9629p-16;
  p = p * t - 0x1.b929d2c4df156p-16;
  p = p * t - 0x1.f1b07c1d24d74p-13;
  p = p * t + 0x1.033f5ae26f4d2p-9;
  p = p * t - 0x1.48c9d38881363p-7;
  p = p * t + 0x1.5477f099eeb24p-5;
  p = p * t + 0x1.afabc11a2acfcp-1;
  p = p * t + 0x1.51c9b0006c21ep+1;
  return p * t + 0x1.d97fbf27aa2a1p+0;
}

template <typename T> TITAN_VECTOR_INLINE T erfImpl(T x) {
  constexpr T end = sizeof(T) == 4 ? T(4) : T(6); // where it is 1
  const T magnitude = x < T(0) ? -x : x;
  const T small = x + x * erfRatio(x * x);
  const T large = T(1) - expImpl(-minusLogErfc(clamp(magnitude, T(1), end) - T(1)));
  return magnitude < T(1) ? small : x < T(0) ? -large : large;
}

} // namespace vector_math

TITAN_VECTOR_INLINE float verf(float x) {
  return vector_math::erfImpl(x);
}
TITAN_VECTOR_INLINE double verf(double x) {
  return vector_math::erfImpl(x);
}

} // namespace titan
