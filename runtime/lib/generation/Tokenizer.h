// Converts between texts and tokens: by bytes, by numbers where the meaning of tokens is unknown,
// or by the tokenizer of a file in a helper process (docs/rationale/generation.md).
#pragma once

#include "settings/Options.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace titan::rt {

class Tokenizer {
public:
  virtual ~Tokenizer() = default;

  /// The tokens of a prompt. Throws UserError for a text that has none.
  virtual std::vector<int64_t> encode(const std::string &prompt) = 0;
  /// Tokens that end a text.
  virtual std::vector<int64_t> ends() const { return {}; }
  /// Whether `next` returns the text of tokens instead of their numbers.
  virtual bool writesText() const { return true; }

  /// Begins the text that follows these tokens. Several texts may be open at the same time: the
  /// caller distinguishes them by the number `text`.
  virtual void begin(int64_t /*text*/, const std::vector<int64_t> & /*prompt*/) {}
  /// The text that can be shown after one more token, and after the last token. A character is
  /// shown as soon as all its bytes are known.
  virtual std::string next(int64_t text, int64_t token) = 0;
  virtual std::string finish(int64_t /*text*/) { return ""; }
};

/// The tokenizer that the options name, else that of a directory of weights, else bytes, or numbers
/// if the data are not text. `vocabulary`: the number of tokens that the model knows.
std::unique_ptr<Tokenizer> openTokenizer(const Options &options, bool dataAreText,
                                         int64_t vocabulary);

} // namespace titan::rt
