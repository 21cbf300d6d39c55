// The configurations beside the weights from which a run starts or which an export reads. A run
// keeps them for its own exports.
#pragma once

#include "TokenizerFiles.h"

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace titan::rt {

/// The name of config.json in the directory of a run. Other software does not load it with the
/// weights of the run, whose names are those of the .titan file.
constexpr const char *sourceConfigName = "source_config.json";

/// Paths; empty if there is no such file.
struct SourceFiles {
  std::string config; ///< config.json that describes the kind of the program's model
  /// generation_config.json in a directory without a tokenizer; elsewhere it belongs to the
  /// tokenizer.
  std::string generation;
};

/// Those of the weights without a prefix, or else of others, for a program with this `config`
/// (compiler/sema/interchange/ExportConfig.h); empty: none. Throws UserError for a file that is no
/// JSON object.
SourceFiles findSourceFiles(const std::string &config, std::span<const WeightSource> sources);

/// The configuration `source`, or that of a part of it such as `text_config`, if it has the
/// `model_type` of `own`, or without one its architecture; with the architecture of `own`. Null if
/// there is none.
nlohmann::ordered_json findModelConfig(const nlohmann::ordered_json &source,
                                       const nlohmann::ordered_json &own);

/// Infinite numbers are marked (base/text/JsonInfinity.h). Throws UserError for a file that is no
/// JSON object.
nlohmann::ordered_json readJsonObject(const std::string &path);

/// Copies generation_config.json to the directory `to`, unless the tokenizer there has one.
void copyGenerationConfig(const SourceFiles &files, const std::string &to);

/// Copies the files to the directory of a run, after its tokenizer. `Existing::Replace`: the run
/// starts, so files of an earlier run are removed.
void keepSourceFiles(const SourceFiles &files, const std::string &run, Existing existing);

} // namespace titan::rt
