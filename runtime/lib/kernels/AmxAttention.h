// What attention multiplies, on tiles: like Panel.h, 32 queries or keys lie in lanes, and every
// result is squares of 32 x 32 floats, one after the other, which for one panel of lanes are just
// its rows. Probabilities and their gradients, which are floats, are multiplied as sums of two
// bf16, high and low, so that they keep 16 bits. For threads that are in a TileScope.
#pragma once

#include "Amx.h"

namespace titan::rt::amx {

/// The calling thread may use its tiles while this lives.
class TileScope {
public:
  explicit TileScope(bool isUsed);
  ~TileScope();
  TileScope(const TileScope &) = delete;

private:
  const bool isUsed;
};

constexpr int64_t kStep = 2 * 16 * kPanel; // elements of a panel that are 32 deep

/// Panels or steps that hold so much.
constexpr int64_t panelsFor(int64_t extent) {
  return (extent + kPanel - 1) / kPanel;
}
/// Elements of an operand when packed.
constexpr int64_t packedElements(int64_t lines, int64_t depth) {
  return panelsFor(lines) * panelsFor(depth) * kStep;
}

void packLeft(const Operand &from, int64_t lines, int64_t depth, uint16_t *to);
void packRight(const Operand &from, int64_t lines, int64_t depth, uint16_t *to);

struct Halves {
  uint16_t *high, *low;
};
/// Rows of 32 floats, as the right operand whose depth they are.
void splitDepth(const float *rows, int64_t count, const Halves &to);
/// As the left operand whose lines they are, of which the first `depth` elements count.
void splitLines(const float *rows, int64_t count, int64_t depth, const Halves &to);

/// C = A B for some panels of A, one after the other, and one of B.
void multiply(const uint16_t *a, int64_t panels, const uint16_t *b, int64_t steps, float *c);
/// C += A B for panels of A so many elements apart, and one of B.
void add(const uint16_t *a, int64_t panels, int64_t stride, const Halves &b, int64_t steps,
         float *c);
/// C += A B, 32 deep: some panels of A, panels of B so many elements apart. C[panel of A][of B].
void addAcross(const Halves &a, int64_t panelsA, const uint16_t *b, int64_t panelsB, int64_t stride,
               float *c);

} // namespace titan::rt::amx
