// The tokenizer files in the directory of weights, as Hugging Face stores them.
#pragma once

#include "base/weights/WeightSource.h"

#include <map>
#include <span>
#include <string>

namespace titan::rt {

/// `path`, the weights' directory, if it has a tokenizer; else empty.
std::string tokenizerBeside(const std::string &path);

/// The path of the first of these weights that has a tokenizer, of weights without a prefix if they
/// have one; empty if there is none.
std::string findTokenizerSource(std::span<const WeightSource> sources);

/// Throws UserError for a source that does not exist; findTokenizerSource would treat it as one
/// without a tokenizer.
void requireSources(std::span<const WeightSource> sources);

/// A digest of the files of a tokenizer, a directory or one of the files, that decide about tokens.
/// Copies have equal digests.
std::string digestTokenizer(const std::string &path);

/// Values as JSON by key.
using SpecialTokens = std::map<std::string, std::string>;

/// The entries `bos_token_id`, `eos_token_id` and `pad_token_id` of generation_config.json, or else
/// of config.json, in `from`, a directory or one of its files. Throws UserError if one of both is
/// no JSON object.
SpecialTokens readSpecialTokens(const std::string &from);

/// Copies the files of the tokenizer of `from`, a directory or one of the files, to the directory
/// `to`. Returns false without a tokenizer. Throws Fault if the disk fails.
bool copyTokenizer(const std::string &from, const std::string &to);

} // namespace titan::rt
