// The tokenizer files in the directory of weights, as Hugging Face stores them.
#pragma once

#include "base/weights/WeightSource.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace titan::rt {

/// The directory of the files beside weights: that of a file, and the run of a checkpoint.
std::string getSourceFolder(const std::string &path);

/// `path`, the weights' directory, if it has a tokenizer; else empty.
std::string tokenizerBeside(const std::string &path);

/// The directory of the first of these weights that has a tokenizer, of weights without a prefix if
/// they have one; empty if there is none. A checkpoint has that of its run.
std::string findTokenizerSource(std::span<const WeightSource> sources);

/// Throws UserError for a source that does not exist; findTokenizerSource would treat it as one
/// without a tokenizer.
void requireSources(std::span<const WeightSource> sources);

/// A file of a tokenizer and its content in one line (files/FileDigest.h).
struct TokenizerDigest {
  std::string path, digest;
};

/// The files of a tokenizer, a directory or one of the files, that decide about tokens.
std::vector<TokenizerDigest> digestTokenizerFiles(const std::string &path);

/// The same as a text. Copies have equal texts.
std::string digestTokenizer(const std::string &path);

/// Values as JSON by key.
using SpecialTokens = std::map<std::string, std::string>;

/// The entries `bos_token_id`, `eos_token_id` and `pad_token_id` of generation_config.json, or else
/// of config.json, in `from`, a directory or one of its files. Throws UserError if one of both is
/// no JSON object.
SpecialTokens readSpecialTokens(const std::string &from);

/// The names of files that transformers saves with a tokenizer, and generation_config.json for its
/// stop tokens.
std::span<const char *const> getTokenizerFiles();
bool isTokenizerFile(std::string_view name);

/// Throws UserError for a file of the tokenizer of `from` that is no regular file, or whose content
/// is not of its kind: its copy would publish whatever a link leads to.
void checkTokenizer(const std::string &from);

/// Whether a copy replaces files, or only those that are absent or empty.
enum class Existing { Replace, Keep };

/// Copies the files of the tokenizer of `from`, a directory or one of the files, to the directory
/// `to`, durably. Returns false without a tokenizer. Throws Fault if the disk fails.
bool copyTokenizer(const std::string &from, const std::string &to,
                   Existing existing = Existing::Replace);

/// Likewise, for a run that starts: files of an earlier tokenizer in `to` that `from` does not have
/// are removed.
void replaceTokenizer(const std::string &from, const std::string &to);

} // namespace titan::rt
