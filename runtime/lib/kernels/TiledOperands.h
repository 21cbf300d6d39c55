// Attention's tensors as operands of products on tiles.
#pragma once

#include "AmxAttention.h"
#include "Products.h"
#include "ThreadScratch.h"

#include <initializer_list>
#include <type_traits>

namespace titan::rt {

/// Memory in which tiles find lines of E.
template <typename E> bool fitsTiles(std::initializer_list<AttentionStrides> all) {
  bool fits = std::is_same_v<E, bf16> && amx::isAvailable();
  for (const AttentionStrides &at : all)
    fits &= at.element == 1;
  return fits;
}

/// Lines of so much depth, packed for tiles, of each of some heads.
struct TiledOperand {
  int64_t lines, depth, heads = 1;
  uint16_t *data = nullptr;

  int64_t elements() const { return heads * packedOfHead(); }
  int64_t steps() const { return amx::panelsFor(depth); }
  /// From a panel of 32 lines to the next.
  int64_t stride() const { return steps() * amx::kStep; }
  const uint16_t *at(int64_t line, int64_t deep = 0, int64_t head = 0) const {
    return data + head * packedOfHead() + line / amx::kPanel * stride() +
           deep / amx::kPanel * amx::kStep;
  }

  /// From memory where lines run along depth, or across it.
  void packLeft(const bf16 *from, const AttentionStrides &at, bool along, int64_t head = 0) {
    amx::packLeft(operand(from, at, along), lines, depth, data + head * packedOfHead());
  }
  void packRight(const bf16 *from, const AttentionStrides &at, bool along) {
    amx::packRight(operand(from, at, along), lines, depth, data);
  }

private:
  int64_t packedOfHead() const { return amx::packedElements(lines, depth); }
  static amx::Operand operand(const bf16 *from, const AttentionStrides &at, bool along) {
    return {reinterpret_cast<const uint16_t *>(from), at.position, along};
  }
};

/// What products on tiles have in common: the tiles themselves, memory, weights in two halves.
class TiledProducts {
protected:
  static constexpr int64_t square = amx::kPanel * amx::kPanel;

  struct Sums {
    float **to;
    int64_t elements;
  };
  /// `mostWeights` is how many lines probabilities and their gradients are at once.
  void allocate(int64_t mostWeights, std::initializer_list<TiledOperand *> operands,
                std::initializer_list<Sums> sums) {
    const int64_t weight = amx::packedElements(amx::kPanel, mostWeights);
    int64_t bytes = 2 * 2 * weight;
    for (const TiledOperand *operand : operands)
      bytes += 2 * operand->elements();
    for (const Sums &sum : sums)
      bytes += 4 * sum.elements;
    ThreadScratch &scratch = ThreadScratch::ofThread(static_cast<size_t>(bytes));
    weights = {scratch.take<uint16_t>(weight), scratch.take<uint16_t>(weight)};
    for (TiledOperand *operand : operands)
      operand->data = scratch.take<uint16_t>(operand->elements());
    for (const Sums &sum : sums)
      *sum.to = scratch.take<float>(sum.elements);
  }

  /// C[count][lanes] = some lines times a panel, times a factor.
  static void multiply(const uint16_t *lines, int64_t count, const uint16_t *panel, int64_t steps,
                       float factor, float *c) {
    amx::multiply(lines, amx::panelsFor(count), panel, steps, c);
#pragma omp simd
    for (int64_t i = 0; i < amx::panelsFor(count) * square; ++i)
      c[i] *= factor;
  }

  /// C[lines][lanes] += all lines of the operand, so deep, times weights[count][lanes].
  void addWeighted(const TiledOperand &operand, int64_t head, int64_t deep, const float *rows,
                   int64_t count, float *c) {
    amx::splitDepth(rows, count, weights);
    amx::add(operand.at(0, deep, head), amx::panelsFor(operand.lines), operand.stride(), weights,
             amx::panelsFor(count), c);
  }

  const amx::TileScope scope{true};
  amx::Halves weights;
};

} // namespace titan::rt
