// The configuration of other software, `config.json`, as a tree of values with their locations.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/sema/program/Value.h"

#include <map>
#include <nlohmann/json_fwd.hpp>

namespace titan::sema {

/// A member of an object, or the whole configuration.
struct ConfigValue {
  Location loc = {}; ///< of the key; for the whole configuration, its first character
  bool isObject = false;
  std::map<std::string, ConfigValue> members = {}; ///< of an object
  /// Of a value that is no object; an Error value for lists with objects, which only ignored keys
  /// may have.
  Value value = {};
  /// Of an object: the number of its members, for the key `id2label.length`.
  std::shared_ptr<ConfigValue> length = {};

  bool isNull() const { return !isObject && value.kind == Value::Kind::None; }
};

/// Reads a text that must be one JSON object. Reports the first mistake: the grammar, a key twice
/// in an object, an integer beyond 64 bits, or deeper nesting than 32 levels.
std::optional<ConfigValue> readConfigJson(FileId file, const SourceManager &sources,
                                          DiagnosticEngine &diags);

/// A value in JSON. Nothing if it has no form in JSON, such as a function.
std::optional<nlohmann::json> toJson(const Value &value);

/// An object in JSON, likewise.
std::optional<nlohmann::json> toJson(const ConfigValue &object);

} // namespace titan::sema
