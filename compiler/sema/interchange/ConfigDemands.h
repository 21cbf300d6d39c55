// The demands of a configuration on the arguments of a model: the keys of the configuration,
// matched with the lines of a declaration.
#pragma once

#include "compiler/sema/interchange/ConfigMap.h"

namespace titan::sema {

/// The expression of a line must have this value.
struct ConfigDemand {
  const ConfigLine *line;
  Value value;
  std::string key; ///< with its objects, as messages show it
  Location loc;    ///< in the configuration
};

struct ConfigDemands {
  std::vector<const ConfigValue *> objects; ///< by number in the map; null if absent
  std::vector<std::string> prefixes;        ///< of their keys, in messages
  std::vector<ConfigDemand> demands;
  std::set<const ConfigLine *> answered; ///< the lines that have a key or a default
  std::set<const ConfigLine *> ignored; ///< equations whose keys do not count in this configuration
  std::vector<std::string> withoutEffect; ///< the keys of the configuration that `ignore` names
  std::optional<int64_t> length;          ///< of samples for which the model is made, in positions
};

/// Reports keys without a line, and objects and lists instead of values.
ConfigDemands collectDemands(const ConfigMap &map, const ConfigValue &config,
                             const Library &library, DiagnosticEngine &diags);

/// The first member of `architectures`; empty, after a report, if there is none.
std::string readArchitecture(const ConfigValue &config, DiagnosticEngine &diags);

} // namespace titan::sema
