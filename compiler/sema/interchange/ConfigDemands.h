// The demands of a configuration on the arguments of a model: the keys of the configuration,
// matched with the lines of a declaration.
#pragma once

#include "compiler/sema/interchange/ConfigMap.h"

namespace titan::sema {

/// The expression of a line must have the value.
struct ConfigDemand {
  const ConfigLine *line;
  Value value;
  std::string key; ///< with its objects, as messages show it
  Location loc;    ///< in the configuration
};

struct ConfigDemands {
  std::vector<const ConfigValue *> objects; ///< those of the map; null where absent
  std::vector<std::string> prefixes;        ///< of their keys, in messages
  std::vector<ConfigDemand> demands;
  std::set<const ConfigLine *> answered; ///< the lines that have a key or a default
  std::optional<int64_t> length;         ///< the tokens for which the model is made
};

/// Reports keys that no line is about, and objects and lists where a value must be.
ConfigDemands collectDemands(const ConfigMap &map, const ConfigValue &config,
                             const Library &library, DiagnosticEngine &diags);

/// The first member of `architectures`; empty, after a report, if there is none.
std::string readArchitecture(const ConfigValue &config, DiagnosticEngine &diags);

} // namespace titan::sema
