#include "compiler/sema/interchange/ExportConfig.h"
#include "compiler/sema/interchange/DeclarationsFor.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace titan::sema {

using namespace syntax;
using Json = nlohmann::json;

namespace {

class ConfigExport {
public:
  ConfigExport(const ConfigMap &map, const std::map<std::string, Argument> &arguments,
               const Value &length, const Library &library, const SourceManager &sources)
      : map(map), library(library), sources(sources) {
    for (const auto &[name, argument] : arguments)
      values[name] = argument.value;
    addDefaults({map.subject.base, {}}, values, library, sources);
    for (const ConfigLine &line : map.equations)
      for (const Name &name : map.arguments(line))
        if (auto value = values.find(name.text); value != values.end())
          imported.insert(*value);
    addDefaults(map.subject, imported, library, sources);
    values[map.lengthName] = length;
  }

  std::optional<std::string> run() {
    if (!expressesAll())
      return std::nullopt;
    config.isObject = true;
    at(config, "architectures").value = Value::ofList({Value::ofString(map.architecture)});
    for (const ConfigLine &line : map.equations) {
      Value value = line.entry->index ? elements(line) : evaluate(*line.entry->value, values, line);
      if (isWritten(line.object)) {
        if (value.isError())
          return std::nullopt;
        const bool isOfOtherKind = line.object != 0 && value.kind == Value::Kind::None;
        if (!isOfOtherKind) // of the object, such as another `rope_type`
          member(getOrCreateObject(line.object), line.entry->keys.front()).value = value;
      }
      results.emplace(&line, std::move(value));
    }
    const std::optional<Json> json = toJson(config);
    if (!json)
      return std::nullopt;
    return Json({{"config", *json}, {"lines", tabulate(0)}}).dump();
  }

private:
  /// Whether an import of the written configuration would restore all arguments that act outside
  /// of training.
  bool expressesAll() const {
    return std::all_of(map.formals().begin(), map.formals().end(), [&](const Formal &formal) {
      if (std::any_of(map.training.begin(), map.training.end(),
                      [&](const Name &name) { return name.text == formal.name.text; }))
        return true;
      auto value = values.find(formal.name.text), expected = imported.find(formal.name.text);
      return value != values.end() && expected != imported.end() &&
             expected->second == value->second;
    });
  }

  /// An optional object is written if an argument that it gives differs from its default.
  bool isWritten(size_t object) const {
    if (object == 0)
      return true;
    NamedValues defaults;
    std::vector<std::string> given;
    for (const ConfigLine &line : map.equations)
      for (const Name &name : map.arguments(line))
        if (map.isWithin(line.object, object))
          given.push_back(name.text);
        else if (values.count(name.text))
          defaults[name.text] = values.at(name.text);
    for (const std::string &name : given)
      defaults.erase(name);
    addDefaults(map.subject, defaults, library, sources);
    bool differs = std::any_of(given.begin(), given.end(), [&](const std::string &name) {
      return !defaults.count(name) || !(defaults.at(name) == values.at(name));
    });
    return differs && isWritten(map.objects[object].outer);
  }

  Value elements(const ConfigLine &line) const {
    Value count = evaluate(*line.entry->count, values, line);
    std::vector<Value> all;
    for (int64_t i = 0; i < count.integer; ++i) {
      NamedValues here = values;
      here[line.entry->index->text] = Value::ofInt(i);
      all.push_back(evaluate(*line.entry->value, here, line));
    }
    bool isError = !count.isInt() || std::any_of(all.begin(), all.end(),
                                                 [](const Value &one) { return one.isError(); });
    return isError ? Value() : Value::ofList(std::move(all));
  }

  Value evaluate(const Expr &expr, const NamedValues &names, const ConfigLine &line) const {
    return evaluateQuietly(expr, names, library, *line.unit, sources);
  }

  ConfigValue &getOrCreateObject(size_t object) {
    if (object == 0)
      return config;
    const auto &[entry, outer] = map.objects[object];
    ConfigValue &made = member(getOrCreateObject(outer), entry->keys.front());
    made.isObject = true;
    return made;
  }

  /// The equations and objects within an object.
  Json tabulate(size_t object) const {
    Json lines = Json::array();
    for (const ConfigLine &line : map.equations)
      if (const std::optional<Json> value = toJson(results.at(&line));
          line.object == object && value && !isIgnored(line) &&
          !listPaths(line.entry->keys).empty())
        lines.push_back({{"keys", listPaths(line.entry->keys)},
                         {"value", *value},
                         {"optional", mayBeAbsent(line)},
                         {"nullable", mayBeAbsent(line) && !line.entry->nullIsNone},
                         {"length", map.readsLength(line)}});
    for (size_t inner = 1; inner < map.objects.size(); ++inner) {
      const auto &[entry, outer] = map.objects[inner];
      if (outer != object)
        continue;
      lines.push_back({{"keys", listPaths(entry->keys)},
                       {"lines", tabulate(inner)},
                       {"written", isWritten(inner)}});
      if (!entry->absentKey)
        continue;
      lines.back()["absentKey"] = listNames(*entry->absentKey);
      lines.back()["absentValue"] =
          toJson(evaluateQuietly(*entry->absentValue, {}, library, *map.decl.unit, sources))
              .value_or(Json());
    }
    return lines;
  }

  /// Whether the keys of an equation do not count: those of `ignore KEYS unless OTHER == VALUE`
  /// where the other key has another value.
  bool isIgnored(const ConfigLine &line) const {
    return std::any_of(map.ignored.begin(), map.ignored.end(), [&](const ConfigLine &ignore) {
      return ignore.entry->absentKey && ignore.object == line.object &&
             haveCommonKey(*ignore.entry, *line.entry) && !hasValue(ignore);
    });
  }

  static bool haveCommonKey(const ConfigEntry &a, const ConfigEntry &b) {
    return std::any_of(a.keys.begin(), a.keys.end(), [&](const Path &key) {
      return std::any_of(b.keys.begin(), b.keys.end(),
                         [&](const Path &other) { return key.text() == other.text(); });
    });
  }

  /// Whether the key of the condition has its value.
  bool hasValue(const ConfigLine &ignore) const {
    const Value expected = evaluate(*ignore.entry->absentValue, {}, ignore);
    return std::any_of(results.begin(), results.end(), [&](const auto &result) {
      const std::vector<Path> &keys = result.first->entry->keys;
      return result.first->object == ignore.object && result.second == expected &&
             std::any_of(keys.begin(), keys.end(), [&](const Path &key) {
               return key.text() == ignore.entry->absentKey->text();
             });
    });
  }

  static Json listNames(const Path &path) {
    Json names = Json::array();
    for (const Name &name : path.segments)
      names.push_back(name.text);
    return names;
  }

  /// Without the number of members of an object, `id2label.length`, which no value replaces.
  static Json listPaths(const std::vector<Path> &paths) {
    Json all = Json::array();
    for (const Path &path : paths)
      if (path.segments.size() == 1 || path.last().text != "length")
        all.push_back(listNames(path));
    return all;
  }

  /// Whether a configuration without the keys of the line gives the same arguments: by the default
  /// of the line, or by the other lines that read them.
  bool mayBeAbsent(const ConfigLine &line) const {
    if (line.entry->fallback)
      return findDefault(line) == results.at(&line);
    const std::vector<Name> read = map.arguments(line);
    return std::all_of(read.begin(), read.end(), [&](const Name &name) {
      return std::any_of(map.equations.begin(), map.equations.end(), [&](const ConfigLine &other) {
        return &other != &line && !map.readsLength(other) && reads(other, name.text);
      });
    });
  }

  bool reads(const ConfigLine &line, const std::string &argument) const {
    const std::vector<Name> read = map.arguments(line);
    return std::any_of(read.begin(), read.end(),
                       [&](const Name &name) { return name.text == argument; });
  }

  /// The value after `default`; an Error value if a key in it has none.
  Value findDefault(const ConfigLine &line) const {
    NamedValues keys;
    for (const auto &[other, value] : results)
      for (const Path &key : other->entry->keys)
        if (map.isWithin(line.object, other->object) && !value.isError())
          keys[key.text()] = value;
    return evaluate(*line.entry->fallback, keys, line);
  }

  static ConfigValue &at(ConfigValue &object, const std::string &key) {
    object.isObject = true;
    return object.members[key];
  }

  static ConfigValue &member(ConfigValue &object, const Path &path) {
    ConfigValue *found = &object;
    for (const Name &name : path.segments)
      found = &at(*found, name.text);
    return *found;
  }

  const ConfigMap &map;
  const Library &library;
  const SourceManager &sources;
  NamedValues values;                          ///< of all arguments of the program's model
  NamedValues imported;                        ///< from an import of the written configuration
  std::map<const ConfigLine *, Value> results; ///< of the equations
  ConfigValue config;
};

} // namespace

std::optional<std::string> exportConfig(const ConfigMap &map,
                                        const std::map<std::string, Argument> &arguments,
                                        const Value &length, const Library &library,
                                        const SourceManager &sources) {
  return ConfigExport(map, arguments, length, library, sources).run();
}

std::vector<Symbol> findConfigs(const Symbol &model, const Unit &unit, const Library &library) {
  return declarationsFor(model, unit, library, [](const Decl &decl) -> const Path * {
    auto *config = decl.as<ConfigDecl>();
    const bool isWhole = config && config->model && !config->object;
    return isWhole ? &*config->model : nullptr;
  });
}

} // namespace titan::sema
