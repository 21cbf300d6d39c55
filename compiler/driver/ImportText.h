// The text of the file that `titanc import` writes.
#pragma once

#include "compiler/sema/interchange/ImportConfig.h"

namespace titan::driver {

struct ImportedModel {
  std::string source;               ///< the configuration, for the comment at the beginning
  std::vector<std::string> ignored; ///< keys of the configuration that do not change the model
  std::vector<std::string> modules; ///< to import: `models.small`, or a path in quotes
  std::string name, base;           ///< `Small_1B`, `Small`
  std::vector<sema::NamedArgument> arguments;
  /// A model around this one that the run trains instead, and its value; empty: none.
  std::string trained, wrapper;
  std::vector<std::string> rules; ///< `parameters "*" { frozen = true }`
  bool trainsAdapters = false;    ///< the rules say so; the rate of learning is theirs
  std::string compute;            ///< element type of computations; empty: the default
  std::string stored;             ///< element type of exported weights; empty: the default
  int64_t seq = 0;                ///< positions of a sample
  bool readsTokens = true; ///< it has an input `tokens`, so that files of tokens are its data
};

/// A program with the model and a run that trains it, not yet laid out.
std::string makeImportText(const ImportedModel &model);

/// A name for a model: letters, digits and `_` of a directory's name, with a capital letter.
std::string makeModelName(const std::string &directory);

} // namespace titan::driver
