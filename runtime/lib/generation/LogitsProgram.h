// A program that computes the logits of consecutive positions, of one text or of one in each slot
// of a batch (docs/rationale/generation.md).
#pragma once

#include "state/Executor.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace titan::rt {

/// The scalars of programs of generation: the first of the positions that a run computes, or one
/// per slot, and the slot that a text gets.
constexpr const char *kPosition = "position";
constexpr const char *kSlotPositions = "slot_positions";
constexpr const char *kSlot = "slot";
/// The dimension of slots.
constexpr const char *kSlotDim = "batch.slots";

/// Whether the tensor is a cache, or a scalar of programs with caches.
inline bool isOfGeneration(const Tensor &tensor) {
  return tensor.role == Role::Cache ||
         (tensor.role == Role::Scalar &&
          (tensor.name == kPosition || tensor.name == kSlot || tensor.name == kSlotPositions));
}

/// Whether only programs of batches of texts use the tensor.
inline bool isOfSlots(const Tensor &tensor) {
  return tensor.name == kSlot || std::ranges::any_of(tensor.info.dims, [](const Dim &dim) {
           return dim.name == std::string_view(kSlotDim);
         });
}

/// Tokens of a text at the positions from `start` on.
struct TextChunk {
  std::span<const int64_t> tokens;
  int64_t start = 0;
};

class LogitsProgram {
public:
  /// Throws UserError if the program has no such function, or if the function has inputs that a
  /// text does not provide.
  LogitsProgram(Executor &executor, const std::string &function);

  /// The positions that one run computes.
  int64_t positions() const { return length; }
  /// The texts that one run computes; 1 without slots.
  int64_t slots() const { return texts.size; }
  int64_t vocabulary() const { return columns.size; }
  /// Computes a chunk of at most `positions()` tokens for each slot; the rest is padding. An empty
  /// chunk is that of an idle slot.
  void run(std::span<const TextChunk> chunks) const;
  /// The logits of the last run, the same on every rank: for each slot at the position with its
  /// index, or nothing for an index of -1. Collective.
  std::vector<std::vector<double>> collect(std::span<const int64_t> indices) const;

private:
  /// A dimension of the logits: its size, and its stride in the global tensor.
  struct Axis {
    int64_t size = 1, stride = 1;
    int64_t at(int64_t element) const { return element / stride % size; }
  };

  /// Null if the function has no such input.
  const Tensor *findInput(const char *name) const;
  /// Refuses inputs that a text does not provide, as models of arrays may have.
  void checkInputs() const;
  /// Finds the dimensions of the logits, which the model may declare in any order.
  void findAxes();
  void writePositions(std::span<const TextChunk> chunks) const;
  /// Writes `numberAt(slot, index of the position)` to each element of an input.
  template <class Number> void load(const Tensor &input, Number numberAt) const;
  double valueAt(const std::byte *data, int64_t index) const;

  Executor *executor;
  std::string function;
  const Tensor *tokens, *logits;
  Axis texts, rows, columns; ///< of the logits: texts, positions and tokens of the vocabulary
  int64_t length = 0;        ///< positions of `tokens`
};

} // namespace titan::rt
