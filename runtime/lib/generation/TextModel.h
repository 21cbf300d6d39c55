// The logits of the token after a text, from the programs of generation
// (docs/rationale/generation.md).
//
// `prefill` and `decode` compute the logits of new positions from caches of the positions before
// them. Without these programs, `logits` computes all positions for every token.
#pragma once

#include "LogitsProgram.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace titan::rt {

class TextModel {
public:
  /// `useCaches`: whether to run the functions with caches, if the program has them. Throws
  /// UserError if the program writes no text.
  TextModel(Executor &executor, bool useCaches);

  /// Logits of the token after `text`, the same on every rank. Beyond the compiled length, those
  /// after its last tokens: every position then changes with each token. Collective.
  std::vector<double> next(std::span<const int64_t> text);

  /// The most tokens of a text: the length for which the program is compiled.
  int64_t longest() const { return length; }
  int64_t vocabulary() const { return tokenProgram.vocabulary(); }
  bool hasCaches() const { return cached.has_value(); }

private:
  /// Computes the positions of `window` that are not in the caches. Returns the last logits.
  std::vector<double> extend(std::span<const int64_t> window);

  int64_t length; ///< of the longest text
  std::optional<LogitsProgram> prefill;
  LogitsProgram tokenProgram;                 ///< `decode`; without caches `logits`
  std::optional<std::vector<int64_t>> cached; ///< the tokens whose positions are in the caches
};

/// Several texts at once. The model of one text computes the prompts, and their caches are then
/// copied: a prompt of many tokens is as fast as a batch.
class BatchModel {
public:
  /// Whether the program has the functions, and the command uses them.
  static bool isIn(const Executor &executor);
  BatchModel(Executor &executor, TextModel &one);

  int64_t slots() const { return program.slots(); }
  /// Gives a slot to the text whose logits `one` has computed last.
  void admit(int64_t slot);
  /// Logits of the token after the text in each slot; none for an empty text, of an idle slot. The
  /// last token of a text is the one that was not there at `admit` or the last call. Texts beyond
  /// the compiled length are computed one by one. Collective.
  std::vector<std::vector<double>> next(std::span<const std::span<const int64_t>> texts);

private:
  static constexpr const char *kDecodeBatch = "decode_batch", *kAdmit = "admit";

  bool fits(std::span<const int64_t> text) const {
    return static_cast<int64_t>(text.size()) <= one.longest();
  }

  Executor &executor;
  TextModel &one;
  LogitsProgram program;
};

} // namespace titan::rt
