// The logits of the token after a text, from the programs of generation
// (docs/rationale/generation.md).
//
// `prefill` and `decode` compute the logits of new positions from caches of the positions before
// them. Without these programs, `logits` computes all positions for every token.
#pragma once

#include "state/Executor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace titan::rt {

/// The scalar with the first of the positions that a program computes.
constexpr const char *kPosition = "position";

/// A program that computes the logits of consecutive positions.
class LogitsProgram {
public:
  /// Throws UserError if the program has no such function, or one that is not of a text.
  LogitsProgram(Executor &executor, const std::string &function);

  /// The positions that one run computes.
  int64_t positions() const { return length; }
  int64_t vocabulary() const { return columns.size; }
  /// Computes the positions from `start` on of the first `positions()` tokens or fewer; the rest is
  /// padding.
  void run(std::span<const int64_t> tokens, int64_t start) const;
  /// The logits at the position with this index in the last run, the same on every rank.
  /// Collective.
  std::vector<double> collect(int64_t index) const;

private:
  /// A dimension of the logits: its size, and its stride in the global tensor.
  struct Axis {
    int64_t size = 1, stride = 1;
    int64_t at(int64_t element) const { return element / stride % size; }
  };

  const Tensor *input(const char *name) const;
  void checkInputs() const;
  void findAxes();
  template <class Number> void load(const Tensor &input, Number at) const;
  double valueAt(const std::byte *data, int64_t index) const;

  Executor *executor;
  std::string function;
  const Tensor *tokens, *logits;
  Axis rows, columns;
  int64_t length = 0;
};

class TextModel {
public:
  /// `caches`: whether to use the programs with caches, if there are any. Throws UserError if the
  /// program writes no text.
  TextModel(Executor &executor, bool caches);

  /// Logits of the token after `text`, the same on every rank. Beyond the compiled length, those
  /// after its last tokens: every position then changes with each token. Collective.
  std::vector<double> next(std::span<const int64_t> text);

  int64_t vocabulary() const { return token.vocabulary(); }
  bool hasCaches() const { return cached.has_value(); }

private:
  std::vector<double> extend(std::span<const int64_t> window);

  int64_t length; ///< of the longest text
  std::optional<LogitsProgram> prefill;
  LogitsProgram token;                        ///< `decode`; without caches `logits`
  std::optional<std::vector<int64_t>> cached; ///< the tokens whose positions are in the caches
};

} // namespace titan::rt
