#include "compiler/sema/interchange/ConfigDemands.h"
#include "compiler/sema/interchange/Names.h"

#include <algorithm>

namespace titan::sema {

using namespace syntax;

namespace {

constexpr const char *architectures = "architectures";

class DemandCollector {
public:
  DemandCollector(const ConfigMap &map, const ConfigValue &config, const Library &library,
                  DiagnosticEngine &diags)
      : map(map), config(config), library(library), diags(diags) {}

  ConfigDemands run() {
    findObjects();
    if (map.hasObject() && !result.objects[1])
      diags
          .report(Code::ConfigKeyMissing, config.loc,
                  "there is no object `" + map.objects[1].entry->keys.front().text() +
                      "`, which describes the model")
          .note(map.objects[1].entry->loc, "declared here");
    markIgnored();
    for (const ConfigLine &line : map.equations)
      collect(line);
    reportUnknown(config, "");
    return std::move(result);
  }

private:
  /// Finds the objects of `optional` entries. An object is present if one of its keys has an object
  /// as value and the condition after `unless` does not hold.
  void findObjects() {
    result.objects.push_back(&config);
    result.prefixes.emplace_back();
    for (size_t i = 1; i < map.objects.size(); ++i) {
      const auto &[entry, outer] = map.objects[i];
      result.objects.push_back(nullptr);
      result.prefixes.emplace_back();
      for (const Path &key : entry->keys)
        if (!result.objects[i] && result.objects[outer])
          findObject(i, *entry, key, outer);
    }
  }

  void findObject(size_t object, const ConfigEntry &entry, const Path &key, size_t outer) {
    const ConfigValue *member = findMember(*result.objects[outer], key);
    if (!member)
      return;
    understood.insert(member);
    const std::string name = result.prefixes[outer] + key.text();
    if (!member->isObject && !member->isNull())
      diags.report(Code::BadConfigValue, member->loc,
                   "`" + name + "` must be an object, not " + member->value.print());
    if (!member->isObject || isAbsent(entry, *member))
      return;
    result.objects[object] = member;
    result.prefixes[object] = name + ".";
  }

  bool isAbsent(const ConfigEntry &entry, const ConfigValue &object) {
    const ConfigValue *member = entry.absentKey ? findMember(object, *entry.absentKey) : nullptr;
    if (!member || !(member->value == evaluate(*entry.absentValue, {}, *map.decl.unit)))
      return false;
    understood.insert(member);
    return true;
  }

  Value evaluate(const Expr &expr, const NamedValues &names, const Unit &unit) const {
    return evaluateQuietly(expr, names, library, unit, diags.sourceManager());
  }

  /// Each key of an equation that is present demands its value. If no key is present, the default
  /// demands its value. `null` means the default, or the value `none` without a default.
  void collect(const ConfigLine &line) {
    const ConfigValue *object = result.objects[line.object];
    if (!object)
      return;
    if (isIgnored(line)) {
      result.ignored.insert(&line);
      return;
    }
    for (const Path &key : line.entry->keys) {
      const ConfigValue *member = findMember(*object, key);
      if (member)
        understood.insert(member);
      const bool isDefault =
          member && member->isNull() && line.entry->fallback && !line.entry->nullIsNone;
      if (member && map.readsLength(line))
        takeLength(member->value);
      else if (member && !isDefault)
        demand(line, *member, result.prefixes[line.object] + key.text());
    }
    if (result.answered.count(&line) || !line.entry->fallback || map.readsLength(line))
      return;
    result.answered.insert(&line); // missing keys in its default are reported with their own lines
    const std::string key = result.prefixes[line.object] + line.entry->keys.front().text();
    std::optional<Value> value = evaluateDefault(line, 0);
    if (value && value->isError())
      diags.report(Code::BadConfigValue, config.loc,
                   "there is no `" + key + "`, and its default `" + getText(*line.entry->fallback) +
                       "` has no value here");
    else if (value)
      result.demands.push_back({&line, std::move(*value), key, config.loc});
  }

  /// Whether a key of the equation is ignored: the argument keeps its default in the model.
  bool isIgnored(const ConfigLine &line) const {
    return std::any_of(line.entry->keys.begin(), line.entry->keys.end(), [&](const Path &key) {
      return ignoredKeys.count({line.object, key.text()}) != 0;
    });
  }

  void takeLength(const Value &value) {
    if (value.isInt() && value.integer > 0)
      result.length = value.integer;
  }

  void demand(const ConfigLine &line, const ConfigValue &member, const std::string &key) {
    result.answered.insert(&line);
    if (member.isObject || member.value.isError())
      diags.report(Code::BadConfigValue, member.loc,
                   "`" + key + "` must be a value, not " +
                       (member.isObject ? "an object" : "a list of objects"));
    else
      result.demands.push_back({&line, member.value, key, member.loc});
  }

  /// The value after `default`, computed from keys. Empty if one of these keys is absent and has no
  /// default; the missing key is reported elsewhere.
  std::optional<Value> evaluateDefault(const ConfigLine &line, unsigned depth) {
    constexpr unsigned maxDepth = 16; // of defaults that read one another
    NamedValues values;
    for (const Name &name : namesIn(*line.entry->fallback)) {
      std::optional<Value> value =
          depth < maxDepth ? findValue(name.text, line.object, depth) : std::nullopt;
      if (!value)
        return std::nullopt;
      values[name.text] = std::move(*value);
    }
    return evaluate(*line.entry->fallback, values, *line.unit);
  }

  /// The value of a key in an object or in one around it.
  std::optional<Value> findValue(const std::string &key, size_t object, unsigned depth) {
    for (const ConfigLine &line : map.equations) {
      auto isMeant = [&](const Path &path) { return path.text() == key; };
      const std::vector<Path> &keys = line.entry->keys;
      if (!map.isWithin(object, line.object) || std::none_of(keys.begin(), keys.end(), isMeant))
        continue;
      for (const Path &path : keys)
        if (const ConfigValue *member = findMember(*result.objects[line.object], path);
            member && !member->isNull())
          return member->value;
      return line.entry->fallback ? evaluateDefault(line, depth + 1) : std::nullopt;
    }
    return std::nullopt;
  }

  std::string getText(const Expr &expr) const {
    return std::string(diags.sourceManager().text(expr.loc));
  }

  /// Whether an `ignore` holds: it has no condition after `unless`, or the condition does not hold.
  bool counts(const ConfigLine &ignore) {
    const ConfigEntry &entry = *ignore.entry;
    if (!entry.absentKey)
      return true;
    std::optional<Value> value = findValue(entry.absentKey->text(), ignore.object, 0);
    return !value || !(*value == evaluate(*entry.absentValue, {}, *ignore.unit));
  }

  void markIgnored() {
    for (const ConfigLine &line : map.ignored) {
      const ConfigValue *object = result.objects[line.object];
      if (!object || !counts(line))
        continue;
      for (const Path &key : line.entry->keys) {
        ignoredKeys.insert({line.object, key.text()});
        if (const ConfigValue *member = findMember(*object, key)) {
          ignored.insert(member);
          if (!member->isNull())
            result.withoutEffect.push_back(result.prefixes[line.object] + key.text());
        }
      }
    }
  }

  bool isUnderstood(const ConfigValue &value) const {
    if (understood.count(&value) || ignored.count(&value))
      return true;
    return std::any_of(value.members.begin(), value.members.end(),
                       [&](const auto &member) { return isUnderstood(member.second); });
  }

  void reportUnknown(const ConfigValue &object, const std::string &prefix) {
    for (const auto &[key, member] : object.members) {
      if (ignored.count(&member) || (&object == &config && key == architectures))
        continue;
      if (member.isNull()) // the default, as without the key
        continue;
      if (!isUnderstood(member))
        diags
            .report(Code::UnknownConfigKey, member.loc,
                    "`" + prefix + key + "` is unknown, and may change the model")
            .note(getName(*map.decl.decl).loc, "the declaration has no line for this key")
            .help("if the key does not matter, add `ignore " + prefix + key +
                  "` to a copy of the declaration, and name its file by `--with`");
      else if (member.isObject)
        reportUnknown(member, prefix + key + ".");
    }
  }

  const ConfigMap &map;
  const ConfigValue &config;
  const Library &library;
  DiagnosticEngine &diags;
  std::set<const ConfigValue *> understood, ignored;
  std::set<std::pair<size_t, std::string>> ignoredKeys; ///< by object
  ConfigDemands result;
};

} // namespace

ConfigDemands collectDemands(const ConfigMap &map, const ConfigValue &config,
                             const Library &library, DiagnosticEngine &diags) {
  return DemandCollector(map, config, library, diags).run();
}

std::string readArchitecture(const ConfigValue &config, DiagnosticEngine &diags) {
  auto member = config.members.find(architectures);
  if (member == config.members.end()) {
    diags.report(Code::ConfigKeyMissing, config.loc, "there is no `architectures`")
        .help("it names the model: `\"architectures\": [\"SmallForCausalLM\"]`");
    return "";
  }
  const Value &value = member->second.value;
  if (value.kind == Value::Kind::List && !value.elements.empty() &&
      value.elements[0].kind == Value::Kind::String)
    return value.elements[0].text;
  diags.report(Code::BadConfigValue, member->second.loc, "`architectures` must be a list of names");
  return "";
}

} // namespace titan::sema
